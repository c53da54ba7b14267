/** GET /generic/requery/{transaksi_id}: a merchant asks what became of its payment; the transaction registry is asked in turn. */
import type { TransactionRegistry } from '../../clients/transaction-registry.ts';
import { transactionIdOf } from '../../commands/transaction-id.ts';
import {
  type PaymentEvent,
  paymentStream,
  type RegistryAnswer,
  type RegistryStatus,
} from '../../events/payment.ts';
import { type PaymentFields, paymentFields } from '../../receipts/payment-fields.ts';
import type { Authenticate } from '../auth/merchant.ts';
import { type Context, causeOf } from '../context.ts';
import type { Dependencies } from '../dependencies.ts';
import { HttpProblem } from '../errors.ts';
import type { ReadPayment } from './read-payment.ts';

export function createRequery(dependencies: {
  config: { transactionIdKey: string };
  authenticate: Authenticate;
  execute: Dependencies['execute'];
  readPayment: ReadPayment;
  registry: TransactionRegistry;
  clock: () => Date;
}) {
  const { authenticate, clock, config, execute, readPayment, registry } = dependencies;
  return async (ctx: Context): Promise<void> => {
    const merchant = authenticate(ctx);
    // The id is made of the merchant's own code: another merchant's payment has no reference that leads to it.
    const id = transactionIdOf(config.transactionIdKey, 'generic', merchant.code, ctx.params.reference ?? '');
    await readPayment(id);
    const answer = await registry.ask(id);
    const { events, state: payment } = await execute(
      paymentStream(id),
      {
        type: 'RecordRequeryAnswer',
        at: clock().toISOString(),
        channel: 'generic',
        merchantCode: merchant.code,
        answer,
      },
      causeOf(ctx, 'registry'),
    );
    if (payment.status === 'none') throw new Error('A payment that was requeried has no state');
    if (answer.status === 'not_found')
      throw new HttpProblem(
        404,
        'paymentNotFound',
        'The transaction registry has no record of this transaction',
      );
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
