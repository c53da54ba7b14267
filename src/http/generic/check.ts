/** GET /generic/check: tells a merchant that its credentials work. */
import { toIsoWithOffset } from '../../events/malaysian-time.ts';
import type { Authenticate } from '../auth/merchant.ts';
import type { Context } from '../context.ts';

export function createCheck(dependencies: {
  authenticate: Authenticate;
  clock: () => Date;
  config: { environment: string };
}) {
  const { authenticate, clock, config } = dependencies;
  return (ctx: Context): void => {
    const merchant = authenticate(ctx);
    ctx.body = {
      status: true,
      message: 'Connection successful',
      data: {
        merchant_code: merchant.code,
        timestamp: toIsoWithOffset(clock().toISOString()),
        environment: config.environment,
      },
    };
  };
}
