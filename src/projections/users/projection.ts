/** The users, as GET /api/v1/users and the console list them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { readUserEvent } from '../../events/codec.ts';
import { type Account, evolveUser, userStreamPrefix } from '../../events/user.ts';

export const users = listProjection({
  name: 'users',
  version: 4,
  streamPrefix: userStreamPrefix,
  evolve: (state: Account | null, event) => evolveUser(state, readUserEvent(event)),
});
