/** /console/exceptions/attempt/{id}/{no}: an attempt whose outcome nobody knows, and the verdict of staff on it. */
import { endOf, type Head } from '../../../commands/execute.ts';
import { InvalidFields } from '../../../commands/fields.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { type Verdict, verdicts } from '../../../commands/verdict.ts';
import { readPaymentEvent } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import { evolve, noPayment, type Payment, paymentStream } from '../../../events/payment.ts';
import { standingOf } from '../../../events/standing.ts';
import {
  type FinalOutcome,
  type UnknownOutcome,
  unknownOutcomesOf,
} from '../../../events/unknown-outcomes.ts';
import type { RecordedEvent } from '../../../eventstore/event-store.ts';
import { formatSen, readAmount, type Sen } from '../../../kernel/money.ts';
import { HttpProblem } from '../../server/context.ts';
import type { Fields } from '../frame/forms-and-lists.ts';
import { texts } from '../texts.ts';
import type { ExceptionSource } from './exception-page.ts';

export const unknownOutcome: ExceptionSource<FinalOutcome> = {
  template: 'unknown-outcome.njk',
  meanings: texts.exceptions.meanings.unknownOutcome,
  async find(ctx, { eventStore, execute }) {
    const { transactionId = '', no: text = '' } = ctx.params;
    const no = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
    const stream = paymentStream(transactionId);
    const stored = no > 0 && transactionIdPattern.test(transactionId) ? await eventStore.load(stream) : [];
    const { state, unknown, settledIn } = fold(stored, no);
    if (state.status === 'none' || !unknown) throw new HttpProblem(404, 'There is no such exception');
    const { amountSen, at, orderNo, settled } = unknown;
    const { merchant, reference } = state.request;
    const head: Head<Payment> = { state, ...endOf(stored) };
    return {
      kind: texts.exceptions.kinds.outcomeUnknown,
      model: {
        url: `/console/exceptions/attempt/${transactionId}/${no}`,
        transactionId,
        merchant,
        reference,
        paymentStatus: standingOf(state),
        at,
        orderNo,
        amountSen,
        expected: formatSen(amountSen),
        attempt: state.attempts.find(({ sellerOrderNo }) => sellerOrderNo === orderNo) ?? null,
        lastRequery: state.lastRequery,
        evidenceUrl: settledIn && `/console/payments/${transactionId}/events/${settledIn.revision}`,
      },
      choices: verdicts,
      resolved: settled && {
        resolution: settled.outcome,
        at: settled.at,
        note:
          settled.source === 'staff'
            ? 'By a verdict; the evidence is with its event.'
            : 'A result arrived after all.',
      },
      resolvedBy: actorOf(settledIn ?? undefined),
      resolve({ at: givenAt, note: evidence, resolution }, cause, fields) {
        const given = { at: givenAt, no, evidence, ...readVerdict(resolution as Verdict, fields) };
        return execute(stream, { type: 'GiveVerdict', ...given }, cause, { from: head });
      },
    };
  },
};

/** The whole payment, and the event that settled the unknown outcome of that number. */
function fold(stored: readonly RecordedEvent[], no: number) {
  let state: Payment = noPayment;
  let unknown: UnknownOutcome | null = null;
  let settledIn: RecordedEvent | null = null;
  for (const event of stored) {
    state = evolve(state, readPaymentEvent(event));
    const now: UnknownOutcome | null =
      state.status === 'none' ? null : (unknownOutcomesOf(state).find((each) => each.no === no) ?? null);
    if (!now?.settled) settledIn = null;
    else if (!unknown?.settled) settledIn = event;
    unknown = now;
  }
  return { state, unknown, settledIn };
}

/** Throws InvalidFields. */
function readVerdict(
  outcome: Verdict,
  { amount = '', gatewayTransactionId = '' }: Fields,
): { outcome: Verdict; amountSen: Sen | null; gatewayTransactionId: string } {
  if (outcome === 'failed') return { outcome, amountSen: null, gatewayTransactionId: '' };
  const amountSen = readAmount(amount.trim());
  if (amountSen === null || amountSen <= 0)
    throw new InvalidFields('The amount must be a text such as 120.50');
  const id = gatewayTransactionId.trim();
  if (!/^[\x21-\x7e]{0,100}$/.test(id))
    throw new InvalidFields(
      'The gateway’s transaction must have at most 100 letters, digits and signs, without spaces',
    );
  return { outcome, amountSen, gatewayTransactionId: id };
}
