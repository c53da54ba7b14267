/** GET /<channel>/check: confirms that a caller's credentials are right. */
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import type { Context } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';

/** `about` is what the channel adds to the answer. */
export function confirmCredentials(ctx: Context, { config, runtime }: Dependencies, about: object): void {
  const timestamp = toIsoWithOffset(runtime.now().toISOString());
  ctx.body = {
    status: true,
    message: 'Connection successful',
    data: { ...about, timestamp, environment: config.environment },
  };
}
