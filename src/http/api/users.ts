/** POST /api/v1/users and GET /api/v1/users/{id} */
import { once } from 'node:events';
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { createExecute } from '../../commands/execute.ts';
import { type NewUser, userDecider, userIdOf } from '../../commands/user.ts';
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { userStream } from '../../events/user.ts';
import { type Context, causeOf } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { createReadState } from '../server/read-state.ts';
import { answer, presentUser, User } from './bodies.ts';
import { apiProblem } from './errors.ts';

/** How long the answer waits until the list holds the new user. */
const listedWithinMs = 3_000;

export function createCreateUser({ config, eventStore, log, runtime, users }: Dependencies) {
  const execute = createExecute({ eventStore, decider: userDecider });
  /** Waits until the list has the new user, who is created even if the read model is down or behind. */
  async function untilListed(id: string): Promise<void> {
    const late = runtime.timeout(listedWithinMs);
    const look = async () => {
      for (let pauseMs = 10; !late.aborted && !(await users.has(id)); pauseMs = Math.min(2 * pauseMs, 80))
        await runtime.sleep(pauseMs);
    };
    await Promise.race([look(), once(late, 'abort')]).catch((err: unknown) =>
      log.warn({ err }, 'a new user cannot be looked up in the list'),
    );
  }

  return async (ctx: Context<{ apiCaller?: string; body: NewUser }>): Promise<void> => {
    const { body: user } = ctx.state;
    const id = userIdOf(config.transactionIdKey, user.email);
    const at = runtime.now().toISOString();
    const command = { type: 'CreateUser', at, id, user, console: false } as const;
    const cause = causeOf(ctx, ctx.state.apiCaller ?? 'api');
    const { state: account } = await execute(userStream(id), command, cause, { creates: true });
    if (!account) throw new Error('A user that was created has no state');
    await untilListed(id);
    ctx.status = 201;
    ctx.set('Location', `${config.baseUrl}/api/v1/users/${id}`);
    answer(ctx, User, presentUser(account));
  };
}

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
