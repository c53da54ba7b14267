/** Which result of the payment here a record of theirs is about. Pure. */
import { currentResult, type RecordedResult, type RequestedPayment } from '../events/payment.ts';
import { isRinggit } from '../kernel/money.ts';
import type { ExportRecord } from './export-format.ts';

type Money = Pick<ExportRecord, 'amountSen' | 'currency'>;
/** A result here, and its place among the payment's recorded ones, counted from 1. */
export type Ours = { resultNo: number; result: RecordedResult };

type Pair = { record: ExportRecord; ours: Ours | null };

/**
 * Finds the result for each record, and the successes here that no record is about. The gateway's transaction id decides.
 * Where one side has none, any result matches that does not contradict the record: successes first, the same amount
 * before another. Records of successes come first in the answer.
 */
export function pairUp(
  records: readonly ExportRecord[],
  payment: RequestedPayment,
): { pairs: Pair[]; uncovered: Ours[] } {
  const results = payment.results.map((result, index) => ({ resultNo: index + 1, result }));
  const successes = results.filter(({ result }) => result.outcome === 'succeeded');
  const current = results.filter(({ result }) => result === currentResult(payment));
  const pairs: Pair[] = records
    .toSorted(
      (a, b) => Number(b.status === 'succeeded') - Number(a.status === 'succeeded') || a.line - b.line,
    )
    .map((record) => ({ record, ours: sameTransaction(record, results) }));
  // A result whose transaction a record names is not free for other records, whether it was paired or not.
  const ids = new Set(pairs.map(({ record }) => record.gatewayTransactionId).filter((id) => id !== ''));
  const taken = new Set(
    results.filter(({ result }) => ids.has(result.gatewayTransactionId)).map(({ resultNo }) => resultNo),
  );
  for (const isMatch of [isSameSuccess, isSuccess, isCompatible]) {
    for (const pair of pairs.filter(({ ours }) => ours === null)) {
      const found = [...successes, ...current].find(
        (ours) => !taken.has(ours.resultNo) && isCompatible(pair.record, ours) && isMatch(pair.record, ours),
      );
      if (!found) continue;
      pair.ours = found;
      taken.add(found.resultNo);
    }
  }
  return { pairs, uncovered: successes.filter(({ resultNo }) => !taken.has(resultNo)) };
}

/** Of the results of the transaction that the record names: one of the same money, else a success, else the last. */
function sameTransaction(record: ExportRecord, results: readonly Ours[]): Ours | null {
  const { gatewayTransactionId: id } = record;
  if (id === '') return null;
  const same = results.filter(({ result }) => result.gatewayTransactionId === id);
  const successes = same.filter(({ result }) => result.outcome === 'succeeded');
  return successes.find(({ result }) => isSameMoney(record, result)) ?? successes[0] ?? same.at(-1) ?? null;
}

const isSuccess = (record: ExportRecord, { result }: Ours) =>
  record.status === 'succeeded' && result.outcome === 'succeeded';

const isSameSuccess = (record: ExportRecord, ours: Ours) =>
  isSuccess(record, ours) && isSameMoney(record, ours.result);

const isCompatible = (record: ExportRecord, { result }: Ours) =>
  !differ(record.gatewayTransactionId, result.gatewayTransactionId) &&
  !differ(record.sellerOrderNo, result.sellerOrderNo);

export function isSameMoney(one: Money, other: Money): boolean {
  const isSameCurrency =
    one.currency.toUpperCase() === other.currency.toUpperCase() ||
    (isRinggit(one.currency) && isRinggit(other.currency));
  return one.amountSen === other.amountSen && isSameCurrency;
}

/** Whether both are given and are not the same. */
export function differ(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}
