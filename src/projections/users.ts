/** The users, as GET /api/v1/users and the console list them. */
import { readUserEvent } from '../events/recorded.ts';
import { type Account, evolveUser, userStreamPrefix } from '../events/user.ts';
import { catalogue } from './catalogue.ts';

export const users = catalogue({
  name: 'users',
  version: 2,
  streamPrefix: userStreamPrefix,
  evolve: (state: Account | null, event) => evolveUser(state, readUserEvent(event)),
});
