/** /console/exceptions/difference/{id}: both sides of a discrepancy between the ledger and an export. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { createExecute, headOf } from '../../../commands/execute.ts';
import { reconciliationDecider } from '../../../commands/reconciliation.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { actorOf } from '../../../events/envelope.ts';
import { type DiscrepancyResolution, reconciliationStream } from '../../../events/reconciliation.ts';
import { HttpProblem } from '../../server/context.ts';
import { actorNames } from '../frame/session.ts';
import { type ExceptionSource, exceptionForm } from './exception-page.ts';

export const discrepancySource: ExceptionSource<DiscrepancyResolution> = {
  template: 'discrepancy.njk',
  meanings: ({ discrepancy }) => discrepancy,
  async find(ctx, { eventStore }) {
    const { id = '' } = ctx.params;
    const stream = reconciliationStream(id);
    const events = derivedIdPattern.test(id) ? await eventStore.load(stream) : [];
    const head = headOf(events, reconciliationDecider);
    const { state: discrepancy } = head;
    if (!discrepancy) throw new HttpProblem(404, 'There is no such discrepancy');
    const actorOfLast = (type: string) => actorOf(events.findLast((event) => event.type === type));
    const foundBy = actorOfLast('ReconciliationDifferenceFound');
    const nameOf = await actorNames(eventStore, [foundBy]);
    return {
      kind: discrepancy.kind,
      model: {
        discrepancy,
        paymentId: paymentIdOf(discrepancy),
        foundBy: nameOf(foundBy),
      },
      choices: ['explained'],
      resolved: discrepancy.resolved,
      resolvedBy: actorOfLast('ReconciliationDifferenceResolved'),
      resolve({ at, note }, cause) {
        const command = { type: 'ResolveDiscrepancy', at, note } as const;
        const execute = createExecute({ eventStore, decider: reconciliationDecider });
        return execute(stream, command, cause, { from: head });
      },
    };
  },
};

export const discrepancy = exceptionForm(discrepancySource);

/** `''` for an id that cannot be that of a payment here. */
export function paymentIdOf({ transactionId }: { transactionId: string }): string {
  return transactionIdPattern.test(transactionId) ? transactionId : '';
}
