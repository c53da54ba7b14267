// A log of payments for the benchmarks of rebuilds.
import { randomUUID } from 'node:crypto';
import { openStorage } from '../packages/embedded/eventstore/storage.ts';
import type { Sen } from '../src/common/money.ts';
import { chain, genesisHash } from '../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../src/events/payment.ts';
import type { PaymentResult } from '../src/events/payment-result.ts';

/** How many payments are in progress at once: their events are interleaved in the log. */
const paymentsAtOnce = 200;

/** A payment's id. Those whose number is a multiple of 50 are of the merchant of the benchmarks. */
export const idOf = (number: number) => `0BENCH${String(number).padStart(20, '0')}`;

/** Fills the store without the protocol: payments of five events, from the request to the delivered callback. */
export function fill(file: string, events: number): void {
  const storage = openStorage(file);
  let payments: { id: string; history: PaymentEvent[]; next: number; hash: string }[] = [];
  let begun = 0;
  for (let appended = 0; appended < events; ) {
    while (payments.length < paymentsAtOnce) {
      begun += 1;
      const id = idOf(begun);
      payments.push({ id, history: historyOf(id, begun), next: 0, hash: genesisHash });
    }
    for (const payment of payments) {
      const event = payment.history[payment.next];
      if (!event) continue;
      const id = randomUUID();
      const cause = { commandId: id, correlationId: id, causationId: id, actor: 'gateway' };
      const [sealed] = chain([event], payment.hash, cause);
      if (!sealed) continue;
      payment.hash = sealed.metadata.hash;
      void storage.append({
        stream: paymentStream(payment.id),
        expected: payment.next === 0 ? 'no_stream' : BigInt(payment.next - 1),
        events: [
          {
            id: sealed.id,
            type: sealed.type,
            contentType: 'application/json',
            data: Buffer.from(JSON.stringify(sealed.data)),
            metadata: Buffer.from(JSON.stringify(sealed.metadata)),
          },
        ],
        deadlineMs: Number.POSITIVE_INFINITY,
      });
      payment.next += 1;
      appended += 1;
    }
    storage.flush();
    payments = payments.filter(({ next, history }) => next < history.length);
  }
  storage.close();
}

function historyOf(transactionId: string, number: number): PaymentEvent[] {
  const minuteMs = 60_000;
  const startMs = Date.UTC(2026, 0, 1) + number * 1_000;
  const at = (minutes: number) => new Date(startMs + minutes * minuteMs).toISOString();
  const amountSen = (100 + (number % 90_000)) as Sen;
  const sellerOrderNo = `${transactionId}-1`;
  const result: PaymentResult = {
    outcome: 'succeeded',
    mode: 'fpx',
    sellerOrderNo,
    gatewayTransactionId: `FPX${number}`,
    amountSen,
    currency: 'MYR',
    paidAt: at(2),
    receiptNo: '',
    buyerBank: 'Maybank2U',
  };
  const evidence = {
    STATUS: '1',
    PAYMENT_MODE: 'fpx',
    TRANS_ID: transactionId,
    PAYMENT_TRANS_ID: `FPX${number}`,
    AMOUNT: (amountSen / 100).toFixed(2),
    BUYER_NAME: 'NURUL BINTI ABDULLAH',
    CHECKSUM: 'a'.repeat(64),
  };
  const callbackUrl = 'https://agency.example/callback';
  const code = number % 50 === 0 ? 'bench-app' : `agency-${number % 50}`;
  const merchant = { code, id: 1 + (number % 50), name: 'Agency' };
  const recorded = {
    source: 'gateway' as const,
    verified: true,
    result,
    personal: { plain: { buyerName: 'NURUL BINTI ABDULLAH' } },
    evidence: { plain: evidence },
    orderNo: sellerOrderNo,
    merchantCode: merchant.code,
    deliveries: [
      { key: 'callback-1', kind: 'callback' as const, url: callbackUrl },
      { key: 'email', kind: 'email' as const },
    ],
    postingRule: 1 as const,
  };
  const tried = { attempt: 1, durationMs: 35 };
  return [
    {
      type: 'PaymentRequested',
      data: {
        at: at(0),
        transactionId,
        channel: 'generic',
        merchant,
        reference: `R-${number}`,
        amountSen,
        service: 'Licences',
        description: 'Business licence 2026',
        items: [],
        personal: { plain: { payer: payerOf(number), extra: { account_no: `A-${number}` } } },
        fingerprint: null,
        emailReceipt: true,
        callbackUrl,
        redirectUrl: 'https://agency.example/done',
        branchCode: '',
      },
    },
    {
      type: 'PaymentMethodChosen',
      data: { at: at(1), attempt: 1, mode: 'fpx', bankCode: 'MB2U0227', chargeSen: 0 as Sen, sellerOrderNo },
    },
    {
      type: 'PaymentSucceeded',
      data: { at: at(2), ...recorded, receiptNo: `1-20260101-${number}`, late: false },
    },
    { type: 'CallbackDelivered', data: { at: at(3), delivery: 'callback-1', ...tried, status: 200 } },
    {
      type: 'ReceiptEmailSent',
      data: { at: at(3), delivery: 'email', ...tried, messageId: `<${number}@x>` },
    },
  ];
}

const payerOf = (number: number) => ({
  name: 'Nurul binti Abdullah',
  email: `nurul.${number}@example.com`,
  icNo: '',
  address1: '1 Jalan Contoh',
  address2: '',
  city: 'Ipoh',
  postcode: '30000',
  state: 'Perak',
  phoneNo: '',
});
