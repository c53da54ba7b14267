/** Which attempts the registry is asked about on schedule, and when: content/docs/requery.md. */
import type { PaymentMode } from '../common/payment-modes.ts';
import type { PaymentStatus } from './payment.ts';
import { differ, type RecordedResult } from './recorded-result.ts';

/** The part of a payment that the schedule depends on. */
export type AskedPayment = {
  status: PaymentStatus;
  attempts: readonly { sellerOrderNo: string; at: string; mode: PaymentMode | '' }[];
  results: readonly Pick<
    RecordedResult,
    'sellerOrderNo' | 'isOrderInferred' | 'gatewayTransactionId' | 'mode' | 'outcome' | 'role' | 'at'
  >[];
  lastRequery: { at: string } | null;
  unknownOutcomes?: readonly { orderNo: string }[];
};

type OpenAttempt = AskedPayment['attempts'][number];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** After the attempt was chosen: soon at first, then every hour. */
const scheduleMs = (hours: number): readonly number[] => [
  ...[2, 5, 15].map((minutes) => minutes * minuteMs),
  ...Array.from({ length: hours }, (_, index) => (index + 1) * hourMs),
];

const ordinary = scheduleMs(24);
/** A corporate account's second authoriser may take days. */
const corporate = scheduleMs(7 * 24);
/** Once a day after an attempt has ended without success, or where the end of the payment leaves one open. */
const afterwards = [dayMs, 2 * dayMs, 3 * dayMs];

/** Each attempt's schedule is stretched by up to this share, so that payments of one busy moment spread out. */
const longestStretch = 0.1;

/**
 * The attempts that no final result is about, or that are pending, in the order in which they were chosen: money may still
 * arrive from each of them. An order that a pending result names counts too if nobody chose it here. Total.
 */
export function openAttempts({
  attempts,
  results,
}: Pick<AskedPayment, 'attempts' | 'results'>): OpenAttempt[] {
  const chosen = new Set(attempts.map(({ sellerOrderNo }) => sellerOrderNo));
  const reported = results.filter((result) => isPending(result) && !chosen.has(result.sellerOrderNo));
  const others = new Map(reported.map((result) => [result.sellerOrderNo, result]));
  const pending = ordersOf(openPendings({ results }));
  const ended = ordersOf(results.filter(({ outcome }) => outcome !== 'pending'));
  return [...attempts, ...others.values()].filter(
    ({ sellerOrderNo }) => pending.has(sellerOrderNo) || !ended.has(sellerOrderNo),
  );
}

const ordersOf = (results: readonly { sellerOrderNo: string }[]) =>
  new Set(results.map(({ sellerOrderNo }) => sellerOrderNo));

/**
 * The pending results that nothing has ended: a success of their order does, and a failure or cancellation of it unless it
 * names another gateway transaction. Total.
 */
export function openPendings<Result extends Reported>(payment: { results: readonly Result[] }): Result[] {
  const isOpen = (pending: Result, index: number) =>
    isPending(pending) && !payment.results.slice(index + 1).some((later) => ends(later, pending));
  return payment.results.filter(isOpen);
}

type Reported = Omit<AskedPayment['results'][number], 'isOrderInferred' | 'mode' | 'at'>;

function ends({ gatewayTransactionId, outcome, sellerOrderNo }: Reported, pending: Reported): boolean {
  if (outcome === 'pending' || sellerOrderNo !== pending.sellerOrderNo) return false;
  return outcome === 'succeeded' || !differ(gatewayTransactionId, pending.gatewayTransactionId);
}

/** A pending result that contradicts an earlier one changes nothing. */
function isPending({ outcome, role }: Pick<RecordedResult, 'outcome' | 'role'>): boolean {
  return outcome === 'pending' && role === 'applied';
}

/**
 * The moment (UTC) from which the registry is to be asked; null when nothing is left to ask. `askedAt` is when it was last
 * asked, if that has not been recorded yet. One question makes up for all times that were missed. Total.
 */
export function nextRequeryAt(payment: AskedPayment, askedAt: string | null = null): string | null {
  const recordedMs = payment.lastRequery ? Date.parse(payment.lastRequery.at) : 0;
  const askedMs = Math.max(recordedMs, askedAt === null ? 0 : Date.parse(askedAt));
  const isLater = (timeMs: number) => timeMs > askedMs;
  // The last question about an open attempt is asked even if it was missed, so that the attempt does not stay open.
  const ofOpen = attemptsToAsk(payment).map((attempt) => {
    const timesMs = timesOf(attempt, payment);
    return timesMs.find(isLater) ?? timesMs.at(-1);
  });
  const next = [...ofOpen, timesAfterEnd(payment).find(isLater)].filter((timeMs) => timeMs !== undefined);
  return next.length === 0 ? null : new Date(Math.min(...next)).toISOString();
}

/** The open attempts for which `at` (UTC) is the last time, or after it. Total. */
export function attemptsAtTheirEnd(payment: AskedPayment, at: string): OpenAttempt[] {
  const atMs = Date.parse(at);
  return attemptsToAsk(payment).filter((attempt) =>
    timesOf(attempt, payment).every((timeMs) => timeMs <= atMs),
  );
}

/** The open attempts that staff have not been asked about yet. Total. */
export function attemptsToAsk(payment: AskedPayment): OpenAttempt[] {
  const unknown = new Set(payment.unknownOutcomes?.map(({ orderNo }) => orderNo));
  return openAttempts(payment).filter(({ sellerOrderNo }) => !unknown.has(sellerOrderNo));
}

function timesOf({ at, mode, sellerOrderNo }: OpenAttempt, { status }: AskedPayment): number[] {
  const schedule = mode === 'fpx1' ? corporate : ordinary;
  const endMs = schedule.at(-1) ?? 0;
  const isOver = status !== 'requested' && status !== 'pending';
  const longer = isOver ? [...schedule, ...afterwards.map((afterMs) => endMs + afterMs)] : schedule;
  return stretched(longer, Date.parse(at), sellerOrderNo);
}

/**
 * A bank may take the money after the gateway has reported a failure or a cancellation, even if the payment has been paid
 * since: a payer who was told of a failure pays again.
 */
function timesAfterEnd({ results }: AskedPayment): number[] {
  const paid = ordersOf(results.filter(({ outcome }) => outcome === 'succeeded'));
  // A cancellation on our own page, or by the merchant, names no order: nobody was sent to a bank for it.
  const last = results.findLast(
    ({ outcome, sellerOrderNo }) =>
      (outcome === 'failed' || outcome === 'cancelled') && sellerOrderNo !== '' && !paid.has(sellerOrderNo),
  );
  return last ? stretched(afterwards, Date.parse(last.at), last.sellerOrderNo) : [];
}

function stretched(schedule: readonly number[], startMs: number, sellerOrderNo: string): number[] {
  const stretch = 1 + longestStretch * shareOf(sellerOrderNo);
  return schedule.map((afterMs) => Math.round(startMs + afterMs * stretch));
}

/** From 0 to just below 1, always the same for a seller order. */
function shareOf(sellerOrderNo: string): number {
  const sum = Array.from(sellerOrderNo).reduce((total, character) => total + character.charCodeAt(0), 0);
  return (sum % 100) / 100;
}
