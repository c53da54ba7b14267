/** Which result of the payment here a record of theirs speaks of. Pure. */

import { currentResult, type RecordedResult, type RequestedPayment } from '../events/payment.ts';
import { isRinggit } from '../kernel/money.ts';
import type { ExportRecord } from './export-format.ts';

type Money = Pick<ExportRecord, 'amountSen' | 'currency'>;
/** A result here, and its place among the payment's recorded ones, counted from 1. */
export type Ours = { resultNo: number; result: RecordedResult };

type Pair = { record: ExportRecord; ours: Ours | null };

/**
 * Finds each record its result here, and the charges here that no record speaks of. The gateway's own number of the
 * transaction decides; where one side has none, what does not contradict it, successes first, the same amount before
 * another. Successes come first in what is returned.
 */
export function pairUp(
  records: readonly ExportRecord[],
  payment: RequestedPayment,
): { pairs: Pair[]; uncovered: Ours[] } {
  const ordered = records.toSorted(
    (a, b) => Number(b.status === 'succeeded') - Number(a.status === 'succeeded') || a.line - b.line,
  );
  const pairs: Pair[] = ordered.map((record) => ({ record, ours: sameTransaction(record, payment) }));
  const taken = takenResults(pairs, payment);
  const charges = ownResults(payment).filter(({ result }) => result.outcome === 'succeeded');
  const standing = ownResults(payment).filter(({ result }) => result === currentResult(payment));
  const open = [...charges, ...standing];
  for (const pass of [isSameCharge, isCharge, isCompatible]) {
    for (const pair of pairs.filter(({ ours }) => ours === null)) {
      const found = open.find(
        (ours) => !taken.has(ours.resultNo) && isCompatible(pair.record, ours) && pass(pair.record, ours),
      );
      if (!found) continue;
      pair.ours = found;
      taken.add(found.resultNo);
    }
  }
  return { pairs, uncovered: charges.filter(({ resultNo }) => !taken.has(resultNo)) };
}

/** What was recorded of the gateway's transaction that the record names: the same money, else a success, else the last. */
function sameTransaction(record: ExportRecord, payment: RequestedPayment): Ours | null {
  const { gatewayTransactionId: id } = record;
  if (id === '') return null;
  const same = ownResults(payment).filter(({ result }) => result.gatewayTransactionId === id);
  const charges = same.filter(({ result }) => result.outcome === 'succeeded');
  return charges.find(({ result }) => isSameMoney(record, result)) ?? charges[0] ?? same.at(-1) ?? null;
}

/** Those that a record names, by what they were paired with or by the gateway's number. */
function takenResults(pairs: readonly Pair[], payment: RequestedPayment): Set<number> {
  const taken = new Set(pairs.flatMap(({ ours }) => ours?.resultNo ?? []));
  const ids = new Set(pairs.map(({ record }) => record.gatewayTransactionId).filter((id) => id !== ''));
  for (const { resultNo, result } of ownResults(payment))
    if (ids.has(result.gatewayTransactionId)) taken.add(resultNo);
  return taken;
}

const isCharge = (record: ExportRecord, { result }: Ours) =>
  record.status === 'succeeded' && result.outcome === 'succeeded';

const isSameCharge = (record: ExportRecord, ours: Ours) =>
  isCharge(record, ours) && isSameMoney(record, ours.result);

function isCompatible(record: ExportRecord, { result }: Ours): boolean {
  return (
    !differ(record.gatewayTransactionId, result.gatewayTransactionId) &&
    !differ(record.sellerOrderNo, result.sellerOrderNo)
  );
}

function ownResults({ results }: RequestedPayment): Ours[] {
  return results.map((result, index) => ({ resultNo: index + 1, result }));
}

export function isSameMoney(one: Money, other: Money): boolean {
  return one.amountSen === other.amountSen && currencyOf(one.currency) === currencyOf(other.currency);
}

function currencyOf(text: string): string {
  return isRinggit(text) ? 'MYR' : text.toUpperCase();
}

/** Both say something, and not the same. */
export function differ(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}
