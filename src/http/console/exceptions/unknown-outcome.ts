/** /console/exceptions/attempt/{id}/{no}: an attempt whose outcome nobody knows, and the verdict of staff on it. */
import { InvalidFields } from '../../../commands/fields.ts';
import { type Verdict, verdicts } from '../../../commands/unknown-attempt-outcomes.ts';
import { formatSen, readAmount } from '../../../common/money.ts';
import { phrase } from '../../../common/phrases.ts';
import type { Payment } from '../../../events/payment.ts';
import { unknownOutcomesOf } from '../../../events/unknown-attempt-outcomes.ts';
import { languageOf } from '../../server/context.ts';
import type { Fields } from '../frame/forms-and-lists.ts';
import { exceptionForm, loadNumbered, noSuchException } from './exception-page.ts';

export const unknownOutcome = exceptionForm('unknown-outcome', async (ctx, dependencies) => {
  const { about, entries, no, payment, resolvedWith } = await loadNumbered(ctx, dependencies);
  const outcomeIn = (state: Payment) =>
    state.status === 'none' ? undefined : unknownOutcomesOf(state).find((each) => each.no === no);
  const unknown = outcomeIn(payment);
  if (!unknown) throw noSuchException();
  const settledIn = entries[entries.findLastIndex(({ state }) => !outcomeIn(state)?.settled) + 1];
  const { amountSen, orderNo, settled } = unknown;
  return {
    kind: 'outcomeUnknown',
    model: {
      ...about,
      ...unknown,
      expected: formatSen(amountSen),
      attempt: payment.attempts.find(({ sellerOrderNo }) => sellerOrderNo === orderNo) ?? null,
      lastRequery: payment.lastRequery,
      evidenceUrl: settledIn ? `/console/payments/${about.transactionId}/events/${settledIn.revision}` : null,
    },
    choices: verdicts,
    resolved: settled && {
      resolution: settled.outcome,
      at: settled.at,
      note: phrase(
        languageOf(ctx),
        settled.source === 'staff'
          ? 'By a verdict; the evidence is with its event.'
          : 'A result arrived after all.',
      ),
    },
    resolvedBy: settledIn?.actor ?? '',
    ...resolvedWith(({ at: givenAt, note: evidence, resolution }, fields) => {
      const verdict = readVerdict(resolution as Verdict, fields);
      return { type: 'GiveVerdict', at: givenAt, no, evidence, ...verdict };
    }),
  };
});

/** Throws InvalidFields. */
function readVerdict(outcome: Verdict, { amount = '', gatewayTransactionId = '' }: Fields) {
  if (outcome === 'failed') return { outcome, amountSen: null, gatewayTransactionId: '' };
  const amountSen = readAmount(amount.trim());
  if (!amountSen) throw new InvalidFields('Write an amount of more than 0.00, such as 120.50');
  const id = gatewayTransactionId.trim();
  if (!/^[\x21-\x7e]{0,100}$/.test(id))
    throw new InvalidFields(
      'The gateway’s transaction must have at most 100 letters, digits and signs, without spaces',
    );
  return { outcome, amountSen, gatewayTransactionId: id };
}
