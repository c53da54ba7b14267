// The pages in English.
import { en as receiptTexts } from '../../../receipts/texts/en.ts';

export const en = {
  ...receiptTexts,
  masthead: 'Official payment service',
  otherLanguage: { code: 'ms', name: 'Bahasa Melayu' },

  limits: (min: string, max: string) => `${min} to ${max}`,
  belowLimit: (min: string) => `Not available: this method starts at ${min}.`,
  aboveLimit: (max: string) => `Not available: this method goes up to ${max}.`,
  withFee: (fee: string, total: string) => `Fee ${fee}, total ${total}`,

  amountToPay: 'Amount to pay',
  payTo: 'Pay to',
  items: 'Items',

  payment: {
    title: 'Pay',
    details: 'Payment details',
    chooseMethod: 'How would you like to pay?',
    chooseBank: 'Choose your bank',
    noMethod: 'No payment method accepts this amount. Please contact the agency.',
    submit: 'Continue to payment',
    next: 'You confirm the payment on the next page, with your bank or card provider.',
    cancel: 'Cancel this payment',
    safety: 'We never ask for your banking password or a one-time code on this page.',
  },
  openAttempt: {
    started: (method: string, when: string) => `You started a payment with ${method} ${when}.`,
    what: 'We do not know yet whether it went through. If you pay again, you may be charged twice.',
    look: 'See whether it went through',
    again: 'Pay again all the same. My earlier payment did not go through.',
  },
  notice: 'Please note',
  lastAttempts: {
    failed:
      'Your last attempt did not go through. You may try again. If money has left your account, do not pay again yet: contact the agency first.',
    cancelled: 'This payment was cancelled. You can still pay.',
  },
  formErrorTitle: 'There is a problem',
  formErrors: {
    methodMissing: 'Choose a payment method.',
    methodUnavailable: 'This payment method is not available for this payment. Choose another one.',
    bankMissing: 'Choose your bank.',
    attemptOpen: 'A payment that you started is still open. If you want to pay again, say so below.',
    cancelOpen:
      'This payment cannot be cancelled yet: your bank may already have charged you. Try again once the outcome is known.',
    bankUnknown: 'This bank is not in the list. Choose your bank again.',
  },

  handOver: {
    title: 'Continue to the payment gateway',
    explanation:
      'We are taking you to the payment gateway, where you confirm the payment. If nothing happens in a few seconds, press Continue.',
    submit: 'Continue',
    safety: 'Do not close this window until you are back with a receipt.',
  },

  receipt: {
    ...receiptTexts.receipt,
    back: 'Return to',
    pdf: 'Download PDF',
    pay: 'Go to the payment page',
    tryAgain: 'Try again',
    payRest: 'Pay the rest',
    refresh: 'Check the status again',
    looksAgain: 'This page checks again by itself for about ten minutes.',
    emails: {
      due: (address: string) => `The receipt is on its way to ${address}.`,
      delivered: (address: string, time: string) => `The receipt was sent to ${address} on ${time}.`,
      abandoned: (address: string) => `The receipt could not be sent to ${address}.`,
      again: 'Send the receipt again',
    },
  },

  verify: {
    title: 'This receipt is genuine',
    what: 'This service issued it. Compare this page with the receipt in your hand: where they differ, the receipt has been altered.',
  },

  errorCode: (httpStatus: number) => `Error ${httpStatus}`,
  requestId: 'Request ID',
  problems: {
    badRequest: {
      title: 'We could not read this request',
      what: 'Something in it is missing or not in the form we expect.',
      todo: 'Go back to the agency’s website and start the payment again.',
    },
    unauthorized: {
      title: 'This link is not valid',
      what: 'It is incomplete, or was changed on its way to you.',
      todo: 'Open the link again exactly as you received it, or start from the agency’s website.',
    },
    paymentNotFound: {
      title: 'We do not know this payment',
      what: 'No payment has the number in this address.',
      todo: 'Check the address, or start again from the agency’s website. If you have paid, have the number on your bank’s confirmation ready when you contact the agency.',
    },
    agencyNotFound: {
      title: 'This agency is not registered here',
      what: 'Your bank’s answer was received and kept.',
      todo: 'Do not pay again; contact the agency.',
    },
    receiptNotFound: {
      title: 'We cannot confirm this receipt',
      what: 'No receipt of ours has this number and this code.',
      todo: 'Scan the code again, or type the address exactly as it is printed. A receipt that is only minutes old may not be known here yet. If this page comes again, ask the agency before you rely on the receipt.',
    },
    pageNotFound: {
      title: 'This page does not exist',
      what: 'The address may be mistyped or out of date.',
      todo: 'Check the address, or start again from the agency’s website.',
      action: 'Go to the front page',
    },
    expired: {
      title: 'This page has expired',
      what: 'For your safety a payment page can be used for a limited time only. Nothing has been charged in this step.',
      todo: 'Open a fresh page and choose your payment method again.',
      action: 'Open a fresh page',
    },
    linkExpired: {
      title: 'This link has expired',
      what: 'For your safety a link to a payment works for a limited time only. Nothing has been charged in this step.',
      todo: 'Start again from the agency’s website.',
    },
    alreadyPaid: {
      title: 'This payment is already complete',
      what: 'It does not need to be paid again.',
      todo: 'You can see the receipt.',
    },
    conflict: {
      title: 'This payment already exists with other details',
      what: 'The agency’s system sent the same reference before, with another amount or other addresses.',
      todo: 'Go back to the agency’s website and start the payment again. Nothing has been charged.',
    },
    tooManyAttempts: {
      title: 'This payment has been tried too often',
      what: 'It cannot be tried again.',
      todo: 'Contact the agency, which can start a new payment. If money has left your account, have your bank’s confirmation ready.',
    },
    tooLarge: {
      title: 'This request is too large',
      what: 'More was sent than we accept.',
      todo: 'Go back to the agency’s website and start the payment again.',
    },
    internal: {
      title: 'Something went wrong on our side',
      what: 'The fault has been recorded.',
      todo: 'Wait a moment, then try again. If you have just paid, look at your receipt before you pay again.',
    },
    unavailable: {
      title: 'The service is not available at the moment',
      what: 'It should be back soon.',
      todo: 'Wait a few minutes, then try again. If you have just paid, look at your receipt before you pay again.',
    },
  },

  home: {
    title: 'Payment service',
    what: 'Public agencies use this service to take payments. You reach it from an agency’s website, which sends you here to pay and takes you back with your receipt.',
    tryTitle: 'Try a first payment',
    tryRequest: 'Start a payment as the demonstration agency:',
    tryPay:
      'Open the payment_url of the answer in a browser, choose a method, and pay at the sandbox gateway. No real money moves.',
    gateway: 'Sandbox gateway',
    more: 'More to look at',
    merchant: 'Callbacks that the sandbox’s merchant received',
    mailbox: 'Emails that were sent',
    documentation: 'Documentation',
  },
};

/** English is the pattern: every language has these texts, under the same keys. */
export type Texts = typeof en;
