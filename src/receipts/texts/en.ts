// What a receipt says in English, on the page, in the PDF and in the email. Names that other systems rely on
// (statuses, modes) are those of the interface documents.
export const en = {
  statuses: {
    success: 'Successful',
    failed: 'Failed',
    cancelled: 'Cancelled',
    pending: 'Pending',
    requested: 'Awaiting payment',
    partlyPaid: 'Partly paid',
    wrongAmount: 'Wrong amount received',
  },
  modes: {
    fpx: 'FPX Online Banking (Individual)',
    fpx1: 'FPX Online Banking (Corporate)',
    cc: 'Credit Card',
    dc: 'Debit Card',
    dnqr: 'DuitNow QR',
    wallet: 'E-Wallet',
  },

  service: 'Service',
  description: 'Description',
  reference: 'Reference',
  payer: 'Payer',
  /** In place of who has paid. */
  personalData: {
    erased: 'Personal data erased',
    erasedOn: (date: string) => `Personal data erased on ${date}`,
    unavailable: 'Cannot be shown at the moment',
  },
  /** In place of an amount that the gateway did not report legibly. */
  unknownAmount: 'an unknown amount',
  ago: (minutes: number) =>
    minutes === 0 ? 'just now' : `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`,
  on: (time: string) => `on ${time}`,
  item: 'Item',
  amount: 'Amount',
  fee: 'Fee',
  total: 'Total',
  method: 'Payment method',
  bank: 'Bank',

  receipt: {
    headings: {
      partlyPaid: 'A part of the amount is paid',
      success: 'Official receipt',
      failed: 'The payment did not go through',
      cancelled: 'The payment was cancelled',
      pending: 'The bank has yet to confirm the payment',
      requested: 'No payment has been confirmed yet',
      wrongAmount: 'We received another amount',
    },
    notReceipt: 'This is not a receipt.',
    explanations: {
      success: 'The payment has been received. Keep this receipt for your records.',
      failed:
        'No payment has been received. You can try again, with another payment method if you like. If money has left your account, do not pay again yet: contact the agency first.',
      cancelled:
        'No payment has been received. You can still pay. If money has left your account, contact the agency first.',
      pending:
        'A corporate account may still need an approver. Do not pay again: the receipt page shows the outcome once it is known.',
      requested: 'If you have just paid, wait a moment and check again. Do not pay twice.',
      partlyPaid:
        'A part of the amount has been received. The rest is still to be paid, on the payment page.',
      wrongAmount: 'Do not pay again. If you contact the agency, give it the reference below.',
    },
    asAt: (time: string) =>
      `This is the record as at ${time}. Anything later cannot be shown at the moment: look again in a few minutes.`,
    payee: 'Payee',
    receiptNo: 'Receipt number',
    dateTime: 'Date and time',
    icNo: 'IC number',
    transactionId: 'Transaction ID',
    fpxNo: 'FPX number',
    gatewayNo: 'Gateway number',
    asked: 'Amount asked for',
    received: 'Amount received',
    orderNo: 'Seller order number',
    details: 'Details',
    amounts: 'Amount',
    history: 'History',
  },

  history: {
    requested: 'Payment requested',
    methodChosen: (method: string) => `${method} chosen`,
    success: 'Payment successful',
    lateSuccess: 'Payment confirmed after an earlier attempt had ended',
    failed: 'Attempt failed',
    cancelled: 'Attempt cancelled',
    cancelledByPayer: 'Cancelled by the payer',
    pending: 'Waiting for the bank to confirm',
    amountMismatch: (amount: string) => `${amount} received, which is not the amount asked for`,
    duplicate: (amount: string) => `A further charge of ${amount} received`,
    refunded: (amount: string) => `${amount} returned to the payer`,
    credited: (amount: string) => `${amount} credited to the agency`,
    explained: (amount: string) => `The report of ${amount} looked into and closed`,
    reversed: (amount: string) => `${amount} taken back by the bank`,
  },

  notes: {
    credited: (amount: string) =>
      `The amount asked for was ${amount}. The agency has accepted the amount received as payment in full.`,
    partlyPaid: (amount: string, outstanding: string) =>
      `${amount} has been received. ${outstanding} is still to be paid.`,
    reversed: (date: string, amount: string) => `Reversed on ${date}: the bank has taken ${amount} back.`,
    refunded: (date: string, amount: string, reference: string) =>
      `Refunded on ${date}: ${amount}${reference && `, reference ${reference}`}.`,
  },

  /** What happened, and then what becomes of it. */
  otherCharges: {
    wrongAmount: (received: string, asked: string) => `We received ${received} instead of ${asked}.`,
    furtherCharge: (received: string) => `You were charged once more: we received a further ${received}.`,
    openWrongAmount: 'It will be credited to the agency or returned to you.',
    openFurtherCharge: 'It will be returned to you.',
    credited: (date: string) => `It was credited to the agency on ${date}.`,
    refunded: (date: string) => `It was returned to you on ${date}.`,
    explained: (date: string) => `Staff looked into this report and closed it on ${date}.`,
  },

  email: {
    attached: 'Your payment has been received. The official receipt is attached as a PDF.',
    notice: 'About your payment',
    open: 'Open the receipt',
    openPayment: 'See how the payment stands',
    otherLanguage: 'Dalam Bahasa Melayu',
    note: 'This email was sent automatically; replies are not read. If you did not make this payment, contact the agency. We never ask for your banking password or a one-time code.',
  },

  pdf: {
    amountInWords: 'Amount in words',
    verify: 'Check this receipt',
    scan: 'Scan the code, or open this address. The page confirms the number, amount, date and status.',
    codeOf: (url: string) => `QR code of ${url}`,
    computerGenerated: 'This document is generated by computer and needs no signature.',
    page: (page: string, pages: string) => `Page ${page} of ${pages}`,
  },
};

/** English is the pattern: every language has these texts, under the same keys. */
export type ReceiptTexts = typeof en;
