/** The users, as GET /api/v1/users and the console list them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { type Account, userFold } from '../../events/user.ts';

export const users = listProjection({
  name: 'users',
  version: 4,
  streamPrefix: userFold.prefix,
  evolve: (state: Account | null, event) => userFold.evolve(state, userFold.read(event)),
});
