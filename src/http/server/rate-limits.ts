/** How often one address and one credential may ask. content/docs/decisions/0033-rate-limits.md has the reasons. */
import { networkOf } from '@ledger/kernel/network-of.ts';
import type { Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../config/config.ts';
import { type Context, HttpProblem, type RateLimit } from './context.ts';

const minute = 60;
const longestPause = 60 * minute;
/** How long the pauses of an address are remembered, so that the next one is longer. In seconds, like all of this. */
const pausesKept = 4 * longestPause;

const publicPages = /^\/(?:(?:generic|landreg)\/(?:pay|receipt|download)|verify)\//;
const signInPages = /^\/console\/sign-in(?:\/|$)/;

export function createRateLimits({
  failuresPerMinute,
  callsPerSecond,
  pagesPerMinute,
}: Config['rateLimits']) {
  const limiter = (keyPrefix: string, points: number, duration: number) =>
    new RateLimiterMemory({ keyPrefix, points, duration });
  const failures = limiter('failures', failuresPerMinute, minute);
  const pauses = limiter('pauses', 1, pausesKept);
  const limits = {
    calls: { limiter: limiter('calls', callsPerSecond * 10, 10), isPerAddress: false },
    pages: { limiter: limiter('pages', pagesPerMinute, minute), isPerAddress: true },
    // Less than a payment has in a day, so that one address cannot use them up.
    attempts: { limiter: limiter('attempts', 20, 24 * 60 * minute), isPerAddress: true },
    // Each reads up to 10,000 events.
    proofs: { limiter: limiter('proofs', 20, minute), isPerAddress: true },
    // Each looks at up to 10,000 payments, or searches the documentation, which is counted by address.
    lists: { limiter: limiter('lists', 300, minute), isPerAddress: false },
    // Each makes this process send something to a server of the merchant's choice, and wait for it.
    tests: { limiter: limiter('tests', 10, minute), isPerAddress: false },
    // Each adds to a stream that is read again and again.
    rotations: { limiter: limiter('rotations', 20, 24 * 60 * minute), isPerAddress: false },
    // A whole agency may sit behind one address.
    signIns: { limiter: limiter('sign-ins', 300, 15 * minute), isPerAddress: true },
    // For one user, from any address. Links that were sent before still work.
    links: { limiter: limiter('links', 3, 15 * minute), isPerAddress: false },
  } satisfies Record<RateLimit, { limiter: RateLimiterMemory; isPerAddress: boolean }>;

  async function recordFailure(key: string): Promise<void> {
    const { consumedPoints } = await failures.penalty(key);
    // Later ones were under way when the pause began.
    if (consumedPoints !== failuresPerMinute) return;
    const { consumedPoints: count } = await pauses.penalty(key);
    await failures.block(key, pauseSeconds(count));
  }

  /**
   * Koa middleware. Throws HttpProblem 429. Guesses are counted by what they are for, so that one program's wrong key keeps
   * no other program of its address out. Only keys and check codes are counted: nobody guesses the 128 bits or more of a
   * link, a form or a passkey, but for a wrong one anybody could have a whole office, or all phones of a network, paused.
   */
  return async (ctx: Context, next: Next): Promise<void> => {
    const network = networkOf(ctx.state.address);
    ctx.state.spend = async (limit, name) => {
      const { limiter: counted, isPerAddress } = limits[limit];
      await counted.consume(isPerAddress ? `${network} ${name}` : name).catch((error: unknown) => {
        throw error instanceof RateLimiterRes ? tooManyRequests(error, limit) : error;
      });
    };
    ctx.state.guess = async (what, look) => {
      const key = `${what} ${network}`;
      const failed = await failures.get(key);
      if (failed && failed.consumedPoints >= failuresPerMinute && failed.msBeforeNext > 0)
        throw tooManyRequests(failed);
      const found = await look();
      if (!found) await recordFailure(key);
      return found;
    };
    if (publicPages.test(ctx.path)) await ctx.state.spend('pages', '');
    if (signInPages.test(ctx.path)) await ctx.state.spend('pages', 'sign-in');
    if (ctx.path === '/docs/search') await ctx.state.spend('lists', `search from ${network}`);
    await next();
  };
}

/** A minute, then each time twice as long, up to an hour. `count` is 1 for the first pause. */
const pauseSeconds = (count: number): number => Math.min(minute * 2 ** (count - 1), longestPause);

function tooManyRequests({ msBeforeNext }: RateLimiterRes, limit?: RateLimit): HttpProblem {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  const kind = limit === 'attempts' ? 'tooManyAttempts' : 'tooManyRequests';
  return new HttpProblem(429, 'Too many requests; try again later', { kind, retryAfterSeconds });
}
