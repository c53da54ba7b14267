/** POST /api/v1/users */
import { once } from 'node:events';
import { createExecute } from '../../commands/execute.ts';
import { type NewUser, userDecider, userIdOf } from '../../commands/user.ts';
import { userStream } from '../../events/user.ts';
import { type Context, causeOf } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';
import { answer, presentUser, User } from './bodies.ts';

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
