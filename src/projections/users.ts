/** The users, as GET /api/v1/users lists them. */
import { readUserEvent } from '../events/recorded.ts';
import { evolveUser, userStreamPrefix } from '../events/user.ts';
import { catalogue } from './catalogue.ts';

export const users = catalogue({
  name: 'users',
  streamPrefix: userStreamPrefix,
  begin: (event) => evolveUser(null, readUserEvent(event)),
});
