/** GET /<channel>/check: confirms that a caller's credentials are right. */
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import type { Context } from '../server/context.ts';
import type { Dependencies } from '../server/dependencies.ts';

/** `about` is what the channel adds to the answer. */
export function createCheck<State>(
  { config, runtime }: Dependencies,
  about: (ctx: Context<State>) => object,
) {
  return (ctx: Context<State>): void => {
    const timestamp = toIsoWithOffset(runtime.now().toISOString());
    ctx.body = {
      status: true,
      message: 'Connection successful',
      data: { ...about(ctx), timestamp, environment: config.environment },
    };
  };
}
