/** GET /api/v1/health: always 200, within a second, even while a store hangs. Open to everybody. */
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { createLook, type LookDependencies } from '../../monitoring/health.ts';
import type { Context } from '../server/context.ts';
import { answer, Health } from './bodies.ts';

const runtime = `Node.js ${process.version} on ${process.platform} ${process.arch}`;

/** The four fields of the interface; the admin port's `/readyz` says more. */
export function createHealth({ version, ...dependencies }: LookDependencies & { version: string }) {
  const look = createLook(dependencies);
  return async (ctx: Context): Promise<void> => {
    const { status, at } = await look();
    answer(ctx, Health, { status, version, timestamp: toIsoWithOffset(at.toISOString()), runtime });
  };
}
