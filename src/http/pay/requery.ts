/** GET /<channel>/requery/{transaksi_id}: asks the transaction registry what became of a payment, and records its answer. */
import { type PaymentEvent, type PaymentRequested, paymentStream } from '../../events/payment.ts';
import type { RegistryAnswer, RegistryStatus } from '../../events/payment-result.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { type PaymentFields, paymentFields } from '../../receipts/payment-fields.ts';
import { type Context, causeOf } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { PayDependencies } from './dependencies.ts';
import type { LoadedPayment } from './load-payment.ts';

export function createRequery({
  ask,
  execute,
  runtime,
}: {
  ask: (request: PaymentRequested) => Promise<RegistryAnswer>;
  execute: PayDependencies['execute'];
  runtime: Pick<Runtime, 'now'>;
}) {
  return async (ctx: Context<LoadedPayment>): Promise<void> => {
    const { head, payment: asked } = ctx.state;
    const { channel, merchant, transactionId } = asked.request;
    const answer = await ask(asked.request);
    const at = runtime.now().toISOString();
    const { events, state: payment } = await execute(
      paymentStream(transactionId),
      { type: 'RecordRequeryAnswer', at, channel, merchantCode: merchant.code, answer },
      causeOf(ctx, 'registry'),
      { from: head },
    );
    if (payment.status === 'none') throw new Error('A payment that was requeried has no state');
    if (answer.status === 'not_found') {
      const message = 'The transaction registry has no record of this transaction';
      throw new HttpProblem(404, message, { kind: 'paymentNotFound' });
    }
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

/** What is left to staff, in words for the merchant. */
const reviewTexts: Partial<Record<PaymentEvent['type'], string>> = {
  AmountMismatchDetected: 'its amount differs, which is kept for review; ',
  DuplicatePaymentDetected: 'it was paid a second time, which is kept for review; ',
  GatewayResultContradicted: 'that contradicts what is known, which is kept for review; ',
};

const appliedTypes: readonly PaymentEvent['type'][] = ['PaymentSucceeded', 'PaymentFailed', 'PaymentPending'];

/** Ends with what happened to the status. */
function messageOf(answer: RegistryAnswer, events: readonly PaymentEvent[], data: PaymentFields): string {
  const review = events.map(({ type }) => reviewTexts[type] ?? '').join('');
  const became = events.some(({ type }) => appliedTypes.includes(type)) ? 'updated to' : 'remains';
  return `The registry says ${answerTexts[answer.status]}: ${review}status ${became} ${data.payment_status}`;
}
