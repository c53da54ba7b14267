/** /console/exceptions/difference/{id}: a discrepancy between the ledger and an export, both sides of it. */
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { readReconciliationEvent } from '../../../events/codec.ts';
import type { Metadata } from '../../../events/envelope.ts';
import {
  type Difference,
  type DiscrepancyResolution,
  evolveDiscrepancy,
  reconciliationStream,
} from '../../../events/reconciliation.ts';
import { derivedIdPattern } from '../../../kernel/derived-id.ts';
import { sideText } from '../../../reconciliation/texts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { exceptionPage } from './exception-page.ts';
import { discrepancyResolutions, discrepancyTexts } from './texts.ts';

type Found = { id: string; difference: Difference; foundBy: string; resolvedBy: string };

export const { showOne: showDiscrepancy, resolveOne: resolveDiscrepancy } = exceptionPage<
  Found,
  DiscrepancyResolution
>({
  template: 'discrepancy.njk',
  meanings: discrepancyResolutions,
  choices: () => ['explained'],
  resolved: ({ difference: { resolved }, resolvedBy }) => resolved && { ...resolved, by: resolvedBy },

  async find(ctx, { eventStore }) {
    const { id = '' } = ctx.params;
    const events = derivedIdPattern.test(id) ? await eventStore.load(reconciliationStream(id)) : [];
    const difference = events.map(readReconciliationEvent).reduce<Difference | null>(evolveDiscrepancy, null);
    if (!difference) throw new ConsoleProblem(404, 'There is no such discrepancy');
    const actorOf = (type: string) =>
      (events.findLast((event) => event.type === type)?.metadata as Metadata | undefined)?.actor ?? '';
    return {
      id,
      difference,
      foundBy: actorOf('ReconciliationDifferenceFound'),
      resolvedBy: actorOf('ReconciliationDifferenceResolved'),
    };
  },

  model: ({ id, difference, foundBy }) => ({
    title: discrepancyTexts[difference.kind].name,
    meaning: discrepancyTexts[difference.kind].meaning,
    url: `/console/exceptions/difference/${id}`,
    discrepancy: difference,
    paymentId: paymentIdOf(difference),
    foundBy,
    ours: sideText(difference.ours),
    theirs: sideText(difference.theirs),
  }),

  resolve({ id }, { at, note }, { executeDiscrepancy }, cause) {
    const command = { type: 'ResolveDiscrepancy', at, note } as const;
    return executeDiscrepancy(reconciliationStream(id), command, cause);
  },
});

/** `''` for an id that no payment here can have. */
export function paymentIdOf({ transactionId }: { transactionId: string }): string {
  return transactionIdPattern.test(transactionId) ? transactionId : '';
}
