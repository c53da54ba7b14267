/** When the registry is asked on schedule what became of an open payment. */
import { currentResult, type RequestedPayment } from './payment.ts';

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

/** Each payment's schedule is stretched by up to this share, so that payments of one busy moment spread out. */
const longestStretch = 0.1;

/**
 * The moment (UTC) from which the registry is to be asked; null when the payment has ended, nobody chose a method, or
 * the schedule is over. One question makes up for all times that were missed. Total.
 */
export function nextRequeryAt(payment: RequestedPayment): string | null {
  const { lastRequery, status } = payment;
  if (status !== 'pending' && status !== 'requested') return null;
  const startMs = startOf(payment);
  if (startMs === null) return null;
  const dueMs = slotAfter(payment, startMs, lastRequery ? Date.parse(lastRequery.at) : startMs);
  return dueMs === undefined ? null : new Date(dueMs).toISOString();
}

/**
 * The moment of the next question after one at `failedAt` got no answer: the next time of the schedule, or, after its
 * last, a wait as long as the payment has been open. Questions never stop, but become less and less frequent. Null when
 * nobody chose a method.
 */
export function requeryAgainAt(payment: RequestedPayment, failedAt: Date): Date | null {
  const startMs = startOf(payment);
  if (startMs === null) return null;
  const failedMs = failedAt.getTime();
  return new Date(slotAfter(payment, startMs, failedMs) ?? failedMs + (failedMs - startMs));
}

function startOf(payment: RequestedPayment): number | null {
  const openSince = payment.attempts.at(-1)?.at ?? currentResult(payment)?.at;
  return openSince === undefined ? null : Date.parse(openSince);
}

function slotAfter({ attempts, request }: RequestedPayment, startMs: number, ms: number): number | undefined {
  const schedule = attempts.some(({ mode }) => mode === 'fpx1') ? corporate : ordinary;
  const stretch = 1 + longestStretch * shareOf(request.transactionId);
  return schedule.map((afterMs) => Math.round(startMs + afterMs * stretch)).find((slotMs) => slotMs > ms);
}

/** From 0 to just below 1, always the same for a transaction. */
function shareOf(transactionId: string): number {
  const sum = Array.from(transactionId).reduce((total, character) => total + character.charCodeAt(0), 0);
  return (sum % 100) / 100;
}
