/** GET /<channel>/check: confirms that a caller's credentials are right. */
import { toIsoWithOffset } from '../../kernel/malaysian-time.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Context } from '../server/context.ts';

/** `about` is what the channel adds to the answer. */
export function createCheck<State>(dependencies: {
  about: (ctx: Context<State>) => object;
  config: { environment: string };
  runtime: Pick<Runtime, 'now'>;
}) {
  const { about, config, runtime } = dependencies;
  return (ctx: Context<State>): void => {
    const timestamp = toIsoWithOffset(runtime.now().toISOString());
    ctx.body = {
      status: true,
      message: 'Connection successful',
      data: { ...about(ctx), timestamp, environment: config.environment },
    };
  };
}
