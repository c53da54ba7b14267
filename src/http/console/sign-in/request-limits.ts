/** How often something may be asked for, counted in this process and within a bounded memory. */

export type Limit = { most: number; withinMs: number };

/** More names than that are not kept apart: the longest unseen is forgotten. */
const maxNames = 10_000;

/** The function returned counts a request of `name` and answers whether it is within the limit. */
export function createRequestLimit({ most, withinMs }: Limit, clock: () => Date) {
  const times = new Map<string, number[]>();
  return (name: string): boolean => {
    const nowMs = clock().getTime();
    const recent = (times.get(name) ?? []).filter((timeMs) => timeMs > nowMs - withinMs);
    const isWithin = recent.length < most;
    if (isWithin) recent.push(nowMs);
    // Put at the end, so that the first is the one that was not seen for longest.
    times.delete(name);
    times.set(name, recent);
    const [oldest] = times.keys();
    if (times.size > maxNames && oldest !== undefined) times.delete(oldest);
    return isWithin;
  };
}
