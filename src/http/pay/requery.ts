/** GET /<channel>/requery/{transaksi_id}: a caller asks what became of its payment; the transaction registry is asked in turn. */
import {
  type PaymentEvent,
  type PaymentRequested,
  paymentStream,
  type RegistryAnswer,
  type RegistryStatus,
} from '../../events/payment.ts';
import { type PaymentFields, paymentFields } from '../../receipts/payment-fields.ts';
import { type Context, causeOf } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { PayDependencies } from './dependencies.ts';
import type { ReadPayment } from './read-payment.ts';

export function createRequery(dependencies: {
  /** Which of the caller's payments the path names. Throws HttpProblem 401. */
  identify: (ctx: Context) => string;
  ask: (request: PaymentRequested) => Promise<RegistryAnswer>;
  execute: PayDependencies['execute'];
  readPayment: ReadPayment;
  clock: () => Date;
}) {
  const { ask, clock, execute, identify, readPayment } = dependencies;
  return async (ctx: Context): Promise<void> => {
    const found = await readPayment(identify(ctx));
    const { request } = found.payment;
    const answer = await ask(request);
    const { events, state: payment } = await execute(
      paymentStream(request.transactionId),
      {
        type: 'RecordRequeryAnswer',
        at: clock().toISOString(),
        channel: request.channel,
        merchantCode: request.merchant.code,
        answer,
      },
      causeOf(ctx, 'registry'),
      { from: found.head },
    );
    if (payment.status === 'none') throw new Error('A payment that was requeried has no state');
    if (answer.status === 'not_found')
      throw new HttpProblem(404, 'The transaction registry has no record of this transaction', {
        kind: 'paymentNotFound',
      });
    const data = paymentFields(payment);
    ctx.body = { success: true, data, message: messageOf(answer, events, data) };
  };
}

const answerTexts: Readonly<Record<RegistryStatus, string>> = {
  succeeded: 'successful',
  pending: 'pending',
  attempted: 'attempted, without a result yet',
  failed: 'failed',
  not_found: 'not found',
};

/** What was set apart for staff, in the merchant's words. */
const keptTexts: Partial<Record<PaymentEvent['type'], string>> = {
  AmountMismatchDetected: 'its amount differs, which is kept for review; ',
  DuplicatePaymentDetected: 'it was paid a second time, which is kept for review; ',
  GatewayResultContradicted: 'that contradicts what is known, which is kept for review; ',
};

const appliedTypes: readonly PaymentEvent['type'][] = ['PaymentSucceeded', 'PaymentFailed', 'PaymentPending'];

/** Ends with what became of the status. */
function messageOf(answer: RegistryAnswer, events: readonly PaymentEvent[], data: PaymentFields): string {
  const kept = events.map(({ type }) => keptTexts[type] ?? '').join('');
  const became = events.some(({ type }) => appliedTypes.includes(type)) ? 'updated to' : 'remains';
  return `The registry says ${answerTexts[answer.status]}: ${kept}status ${became} ${data.payment_status}`;
}
