import { timingSafeEqual } from 'node:crypto';

/** Whether a text that somebody gave is the right one, in a time that says nothing about how much of it is right. */
export function isSameText(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
