/** GET /<channel>/check: tells a caller that its credentials work. */
import { toIsoWithOffset } from '../../kernel/malaysian-time.ts';
import type { Context } from '../server/context.ts';

export function createCheck({
  about,
  clock,
  config,
}: {
  /** What the answer says besides; throws HttpProblem 401. */
  about: (ctx: Context) => object;
  clock: () => Date;
  config: { environment: string };
}) {
  return (ctx: Context): void => {
    ctx.body = {
      status: true,
      message: 'Connection successful',
      data: {
        ...about(ctx),
        timestamp: toIsoWithOffset(clock().toISOString()),
        environment: config.environment,
      },
    };
  };
}
