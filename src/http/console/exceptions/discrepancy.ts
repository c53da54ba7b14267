/** /console/exceptions/difference/{id}: both sides of a discrepancy between the ledger and an export. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { Refused } from '../../../commands/decider.ts';
import { createExecute, headOf } from '../../../commands/execute.ts';
import { reconciliationDecider } from '../../../commands/reconciliation.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { actorOf } from '../../../events/envelope.ts';
import { type DiscrepancyResolution, reconciliationStream } from '../../../events/reconciliation.ts';
import type { PageDependencies } from '../frame/page.ts';
import { actorNames } from '../frame/session.ts';
import { exceptionForm, type FoundException } from './exception-page.ts';

/** Throws Refused if there is none. */
export async function findDiscrepancy(
  id: string,
  { eventStore }: Pick<PageDependencies, 'eventStore'>,
): Promise<FoundException<DiscrepancyResolution>> {
  const stream = reconciliationStream(id);
  const events = derivedIdPattern.test(id) ? await eventStore.load(stream) : [];
  const head = headOf(events, reconciliationDecider);
  const { state: discrepancy } = head;
  if (!discrepancy) throw new Refused('unknown_exception', 'There is no such discrepancy');
  const actorOfLast = (type: string) => actorOf(events.findLast((event) => event.type === type));
  const foundBy = actorOfLast('ReconciliationDifferenceFound');
  const nameOf = await actorNames(eventStore, [foundBy]);
  return {
    kind: discrepancy.kind,
    model: { discrepancy, paymentId: paymentIdOf(discrepancy), foundBy: nameOf(foundBy) },
    choices: ['explained'],
    resolved: discrepancy.resolved,
    resolvedBy: actorOfLast('ReconciliationDifferenceResolved'),
    resolve({ at, note }, cause) {
      const command = { type: 'ResolveDiscrepancy', at, note } as const;
      const execute = createExecute({ eventStore, decider: reconciliationDecider });
      return execute(stream, command, cause, { from: head });
    },
  };
}

export const discrepancy = exceptionForm('discrepancy', (ctx, dependencies) =>
  findDiscrepancy(ctx.params.id ?? '', dependencies),
);

/** `''` for an id that cannot be that of a payment here. */
export function paymentIdOf({ transactionId }: { transactionId: string }): string {
  return transactionIdPattern.test(transactionId) ? transactionId : '';
}
