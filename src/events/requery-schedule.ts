/** When the registry is asked by itself what became of a payment that was left open. */
import { type RequestedPayment, standingResult } from './payment.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** After the last attempt was chosen: soon at first, then every hour. */
const scheduleMs = (hours: number): readonly number[] => [
  ...[2, 5, 15].map((minutes) => minutes * minuteMs),
  ...Array.from({ length: hours }, (_, index) => (index + 1) * hourMs),
];

const ordinary = scheduleMs(24);
/** A corporate account's second authoriser may take days. */
const corporate = scheduleMs(7 * 24);

/** Each payment is asked about up to this much later, so that those of one busy moment are not asked all at once. */
const longestDelay = 0.1;

/**
 * The moment (UTC) from which the registry is to be asked, or null when it is not: the payment has ended, nobody
 * chose a method, or the schedule is over. What was missed meanwhile is asked once, not once for each miss. Total.
 */
export function nextRequeryAt(payment: RequestedPayment): string | null {
  const { attempts, lastRequery, status } = payment;
  if (status !== 'pending' && status !== 'requested') return null;
  const openSince = attempts.at(-1)?.at ?? standingResult(payment)?.at;
  if (openSince === undefined) return null;
  const schedule = attempts.some(({ mode }) => mode === 'fpx1') ? corporate : ordinary;
  const startMs = Date.parse(openSince);
  const askedMs = lastRequery ? Date.parse(lastRequery.at) : startMs;
  const stretch = 1 + longestDelay * shareOf(payment.request.transactionId);
  const dueMs = schedule.map((afterMs) => Math.round(startMs + afterMs * stretch)).find((ms) => ms > askedMs);
  return dueMs === undefined ? null : new Date(dueMs).toISOString();
}

/** From 0 to just below 1, always the same for a transaction. */
function shareOf(transactionId: string): number {
  const sum = Array.from(transactionId).reduce((total, character) => total + character.charCodeAt(0), 0);
  return (sum % 100) / 100;
}
