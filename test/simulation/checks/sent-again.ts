/** Checks at the end that receivers got each delivery as often as the log says, and again if staff asked for it. */
import type { Report } from '../violations.ts';
import type { LogCheck } from './log.ts';

/** What reached a receiver, by the true time, by payment and delivery (`postKeyOf`). */
type Posts = ReadonlyMap<string, readonly { atMs: number; isTaken: boolean; isLeaseLost: boolean }[]>;

/** The items of a payment are counted together. */
export const postKeyOf = (transactionId: string, delivery: string) =>
  `${transactionId} ${delivery.startsWith('item') ? 'items' : delivery}`;

export function checkSentAgain(posts: Posts, log: LogCheck, report: Report): void {
  for (const [id, { state, isUnreadable, requestedAtMs }] of log.payments) {
    if (state.status === 'none' || isUnreadable) continue;
    const recorded = new Map<string, number>();
    for (const { key, kind, attempts, state: now } of state.deliveries) {
      const name = postKeyOf(id, key);
      const got = posts.get(name) ?? [];
      // A file stands for an email, however often it is sent.
      if (kind !== 'email') recorded.set(name, (recorded.get(name) ?? 0) + attempts);
      const askedMs = requestedAtMs.get(key);
      if (kind !== 'callback' || now !== 'delivered' || askedMs === undefined) continue;
      if (!got.some(({ atMs, isTaken }) => isTaken && atMs >= askedMs))
        report('request-forgotten', id, `${key} counts as delivered, and was not sent since staff asked`);
    }
    for (const [name, attempts] of recorded) {
      // What is on its way while PostgreSQL loses the lease on it may be sent by another process as well.
      const times = posts.get(name)?.filter(({ isLeaseLost }) => !isLeaseLost).length ?? 0;
      if (times > attempts)
        report('sent-unrecorded', name, `It was sent ${times} times, and ${attempts} attempts are recorded`);
    }
  }
}
