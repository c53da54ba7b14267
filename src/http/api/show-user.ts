/** GET /api/v1/users/{id}: folded from its stream, so that it is there as soon as it is created. */

import { readUserEvent } from '../../events/codec.ts';
import { type Account, evolveUser, userOf, userStream } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { derivedIdPattern } from '../../kernel/derived-id.ts';
import type { Context } from '../server/context.ts';
import { ApiProblem } from './problem.ts';

export function createShowUser({ eventStore }: { eventStore: Pick<EventStore, 'load'> }) {
  return async (ctx: Context): Promise<void> => {
    const id = ctx.params.id ?? '';
    const events = derivedIdPattern.test(id) ? await eventStore.load(userStream(id)) : [];
    const user = events.map(readUserEvent).reduce<Account | null>(evolveUser, null);
    if (!user) throw new ApiProblem(404, 'user_not_found', 'No user has this id');
    ctx.body = userOf(user);
  };
}
