/**
 * How often something may be requested, counted in this process and within bounded memory. Our own until the limits of
 * all endpoints share one library: rate-limiter-flexible reads the clock itself.
 */
import type { Runtime } from '../../../kernel/runtime.ts';

/** Beyond this number of names, the one unseen for the longest is forgotten. */
const maxNames = 10_000;

/** The function returned counts a request of `name` and returns whether it is within the limit. */
export function createRequestLimit(
  { most, withinMs }: { most: number; withinMs: number },
  runtime: Pick<Runtime, 'now'>,
) {
  const times = new Map<string, number[]>();
  return (name: string): boolean => {
    const nowMs = runtime.now().getTime();
    const recent = (times.get(name) ?? []).filter((timeMs) => timeMs > nowMs - withinMs);
    const isWithin = recent.length < most;
    if (isWithin) recent.push(nowMs);
    // Moved to the end, so that the first is the one unseen for the longest.
    times.delete(name);
    times.set(name, recent);
    const [oldest] = times.keys();
    if (times.size > maxNames && oldest !== undefined) times.delete(oldest);
    return isWithin;
  };
}
