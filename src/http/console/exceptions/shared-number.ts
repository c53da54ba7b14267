/** /console/exceptions/shared/{id}: a number that two payments share. */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { createExecute, headOf } from '../../../commands/execute.ts';
import { sharedNumberDecider } from '../../../commands/shared-numbers.ts';
import { actorOf } from '../../../events/envelope.ts';
import { sharedNumberStream } from '../../../events/shared-number.ts';
import { findSharedNumber } from '../../../projections/journal/shared-number-queries.ts';
import { HttpProblem } from '../../server/context.ts';
import { exceptionForm } from './exception-page.ts';

export const sharedNumber = exceptionForm('shared-number', async (ctx, dependencies) => {
  const { askReadModels, db, eventStore } = dependencies;
  const { id = '' } = ctx.params;
  const [shared] = await askReadModels(ctx, [
    derivedIdPattern.test(id) ? findSharedNumber(db, id) : Promise.resolve(null),
  ]);
  if (!shared) throw new HttpProblem(404, 'There is no such shared number');
  const stream = sharedNumberStream(id);
  const events = await eventStore.load(stream);
  const head = headOf(events, sharedNumberDecider);
  const explained = head.state;
  return {
    kind: shared.kind,
    model: { shared },
    choices: ['explained'],
    resolved: explained && { ...explained, resolution: 'explained' },
    resolvedBy: actorOf(events[0]),
    resolve({ at, note }, cause) {
      const execute = createExecute({ eventStore, decider: sharedNumberDecider });
      return execute(stream, { type: 'ExplainSharedNumber', at, note }, cause, { from: head });
    },
  };
});
