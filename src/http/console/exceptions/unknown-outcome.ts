/** /console/exceptions/attempt/{id}/{no}: an attempt whose outcome nobody knows, and the verdict of staff on it. */
import { InvalidFields } from '../../../commands/fields.ts';
import { type Verdict, verdicts } from '../../../commands/verdict.ts';
import { readPaymentEvent } from '../../../events/codec.ts';
import { actorOf } from '../../../events/envelope.ts';
import { evolve, noPayment, type Payment } from '../../../events/payment.ts';
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
import { type ExceptionSource, loadNumbered } from './exception-page.ts';

export const unknownOutcome: ExceptionSource<FinalOutcome> = {
  template: 'unknown-outcome.njk',
  meanings: texts.exceptions.meanings.unknownOutcome,
  async find(ctx, dependencies) {
    const { transactionId, no, stream, stored, head } = await loadNumbered(ctx, dependencies);
    const { state } = head;
    const { unknown, settledIn } = findUnknown(stored, no);
    if (state.status === 'none' || !unknown) throw new HttpProblem(404, 'There is no such exception');
    const { amountSen, at, orderNo, settled } = unknown;
    const { merchant, reference } = state.request;
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
        return dependencies.execute(stream, { type: 'GiveVerdict', ...given }, cause, { from: head });
      },
    };
  },
};

/** The unknown outcome of that number, and the event that settled it. */
function findUnknown(stored: readonly RecordedEvent[], no: number) {
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
  return { unknown, settledIn };
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
