/** GET /api/v1/users/{id} */
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { userDecider } from '../../commands/user.ts';
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { userStream } from '../../events/user.ts';
import type { Context } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createReadState } from '../server/read-state.ts';
import { answer, presentUser, User } from './bodies.ts';
import { apiProblem } from './errors.ts';

const nobody = { state: null, outdated: null };

export function createShowUser(dependencies: Dependencies) {
  const readUser = createReadState({
    streamOf: userStream,
    decider: userDecider,
    findRow: (id) => dependencies.users.find(id),
    isFinal: () => false,
    ...dependencies,
  });
  return async (ctx: Context): Promise<void> => {
    const { id = '' } = ctx.params;
    const { state: account, outdated } = derivedIdPattern.test(id) ? await readUser(id) : nobody;
    if (!account) throw apiProblem(404, 'user_not_found', 'No user has this id');
    // The documented fields leave no room for a time.
    if (outdated) ctx.set('As-At', toIsoWithOffset(outdated.updatedAt.toISOString()));
    answer(ctx, User, presentUser(account));
  };
}
