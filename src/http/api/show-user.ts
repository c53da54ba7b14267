/** GET /api/v1/users/{id}: folded from its stream, so that a user can be read as soon as it is created. */
import { readUserEvent } from '../../events/codec.ts';
import { type Account, evolveUser, userStream } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import type { Context } from '../server/context.ts';
import { answer, presentUser, User } from './answers.ts';
import { apiProblem } from './errors.ts';

export function createShowUser(eventStore: Pick<EventStore, 'load'>) {
  return async (ctx: Context): Promise<void> => {
    const { id = '' } = ctx.params;
    const events = derivedIdPattern.test(id) ? await eventStore.load(userStream(id)) : [];
    const account = events.map(readUserEvent).reduce<Account | null>(evolveUser, null);
    if (!account) throw apiProblem(404, 'user_not_found', 'No user has this id');
    answer(ctx, User, presentUser(account));
  };
}
