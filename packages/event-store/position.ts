/** Positions in the log. */
import type { Position } from './event-store.ts';

/** Null is before the first event. */
export function isAfter(one: Position | null, other: Position | null): boolean {
  if (!one) return false;
  if (!other) return true;
  return one.commit === other.commit ? one.prepare > other.prepare : one.commit > other.commit;
}

/** For JSON, whose numbers have fewer than 64 bits. */
export const positionText = ({ commit, prepare }: Position) => ({
  commit: String(commit),
  prepare: String(prepare),
});
