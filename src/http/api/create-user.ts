/** POST /api/v1/users */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFields } from '../../commands/fields.ts';
import { NewUser, userIdOf } from '../../commands/user.ts';
import { type Account, userOf, userStream } from '../../events/user.ts';
import type { Log } from '../../kernel/log.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
import { type Context, causeOf } from '../server/context.ts';
import type { ContentDependencies } from './dependencies.ts';

/** How long the answer waits for the list to hold the new user. */
const listedWithinMs = 1_000;
/** Between two looks: the first wait, doubled up to the last. */
const firstPauseMs = 10;
const lastPauseMs = 80;

export function createCreateUser({
  config,
  executeUser,
  users,
  clock,
  log,
}: {
  config: { baseUrl: string; transactionIdKey: string };
  executeUser: ContentDependencies['executeUser'];
  users: Pick<ListQueries<Account>, 'has'>;
  clock: () => Date;
  log: Log;
}) {
  /** Whoever created a user finds it in the list. Where the read model is away or late, the user is created all the same. */
  async function untilListed(id: string): Promise<void> {
    const late = AbortSignal.timeout(listedWithinMs);
    const look = async () => {
      for (let pauseMs = firstPauseMs; !late.aborted && !(await users.has(id)); ) {
        await sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, lastPauseMs);
      }
    };
    try {
      await Promise.race([look(), once(late, 'abort')]);
    } catch (error) {
      log.warn({ err: error }, 'a new user cannot be looked for in the list');
    }
  }

  return async (ctx: Context): Promise<void> => {
    const user = readFields(ctx.request.body, NewUser);
    const id = userIdOf(config.transactionIdKey, user.email);
    const { state } = await executeUser(
      userStream(id),
      { type: 'CreateUser', at: clock().toISOString(), id, user },
      causeOf(ctx, ctx.state.apiCaller ?? 'api'),
      { creates: true },
    );
    if (!state) throw new Error('A user that was created has no state');
    await untilListed(id);
    ctx.status = 201;
    ctx.set('Location', `${config.baseUrl}/api/v1/users/${id}`);
    ctx.body = userOf(state);
  };
}
