/** GET /api/v1/users/{id}: folded from its stream, so that a user can be read as soon as it is created. */
import { loadHead } from '../../commands/execute.ts';
import { userDecider } from '../../commands/user.ts';
import { userStream } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import type { Context } from '../server/context.ts';
import { answer, presentUser, User } from './answers.ts';
import { apiProblem } from './errors.ts';

export function createShowUser(eventStore: Pick<EventStore, 'load'>) {
  return async (ctx: Context): Promise<void> => {
    const { id = '' } = ctx.params;
    const account = derivedIdPattern.test(id)
      ? (await loadHead(eventStore, userStream(id), userDecider)).state
      : null;
    if (!account) throw apiProblem(404, 'user_not_found', 'No user has this id');
    answer(ctx, User, presentUser(account));
  };
}
