/** Compares an export's records of one transaction with the payment in the ledger. Pure. */
import { isRinggit } from '../common/money.ts';
import { currentResult, type Payment, type RequestedPayment, requestedIn } from '../events/payment.ts';
import { type DiscrepancyFound, discrepancyKinds, type ExportSource } from '../events/reconciliation.ts';
import { differ, type RecordedResult, wasTakenOut } from '../events/recorded-result.ts';
import type { ExportRecord } from './export-format.ts';

/** `repeated` is a row that an earlier row of the file equals, or that another row of its transaction supersedes. */
export const verdictClasses = ['matched', ...discrepancyKinds, 'repeated'] as const;
export type VerdictClass = (typeof verdictClasses)[number];

/** About one of their records, or about one of our results for which the file has no record. */
export type Verdict = Pick<
  DiscrepancyFound,
  'gatewayTransactionId' | 'resultNo' | 'merchantCode' | 'paidAt' | 'ours' | 'theirs'
> & {
  class: VerdictClass;
  record: ExportRecord | null;
};

/**
 * One verdict for each record, and one for each success in the ledger, at any time, that no record is about. Money
 * decides: a failed attempt is not a discrepancy once the payment has moved on. The records are in the order of their lines.
 */
export function compareRecords(
  records: readonly ExportRecord[],
  payment: Payment,
  source: ExportSource,
): Verdict[] {
  const { first, repeated } = separateRepeats(records);
  const requested = requestedIn(payment);
  const own = first.filter(
    (record) => requested && !differ(record.merchantCode, requested.request.merchant.code),
  );
  const foreign = first.filter((record) => !own.includes(record));
  return [
    ...(requested ? compareOwn(own, requested, source) : []),
    ...foreign.map((record) => verdictOf('missingHere', { record })),
    ...repeated.map((record) => verdictOf('repeated', { record })),
  ];
}

function compareOwn(records: readonly ExportRecord[], payment: RequestedPayment, source: ExportSource) {
  const { pairs, uncovered } = pairUp(records, payment);
  const unknown = pairs.filter(
    ({ ours, record }) => record.status === 'succeeded' && ours?.result.outcome !== 'succeeded',
  );
  // The first success that the payment does not have means a different status; a second one is other money.
  const otherMoney = payment.status === 'succeeded' ? unknown : unknown.slice(1);
  const verdicts = pairs.map((pair) => {
    const { ours, record } = pair;
    if (ours) return verdictOf(classOf(record, ours.result, source), { record, ours, payment });
    if (otherMoney.includes(pair)) return verdictOf('missingHere', { record, payment });
    return verdictWithoutResult(record, payment);
  });
  return [...verdicts, ...uncovered.map((ours) => verdictOf('missingThere', { ours, payment }))];
}

function classOf(record: ExportRecord, result: RecordedResult, source: ExportSource): VerdictClass {
  if (!isSameStatus(record.status, result.outcome, source)) return 'statusDiffers';
  return record.status !== 'succeeded' || isSameMoney(record, result) ? 'matched' : 'amountDiffers';
}

/** About a record that matches no result in the ledger. */
function verdictWithoutResult(record: ExportRecord, payment: RequestedPayment): Verdict {
  const isExpected = record.status !== 'succeeded' && isPlausible(record.status, payment.status);
  return {
    ...verdictOf(isExpected ? 'matched' : 'statusDiffers', { record, payment }),
    ours: {
      status: payment.status === 'partlyPaid' ? 'requested' : payment.status,
      amountSen: payment.request.amountSen,
      currency: '',
    },
  };
}

/** Whether an attempt without a result in the ledger may have ended like this, given the payment's status. */
function isPlausible(theirs: Exclude<ExportRecord['status'], 'succeeded'>, ours: RequestedPayment['status']) {
  if (ours === 'succeeded' || theirs === 'attempted' || theirs === 'not_found') return true;
  return theirs === 'pending' ? ours === 'pending' : ours !== 'requested';
}

/** The registry has no status for a cancellation: it reports a failure, or an attempt without a result. */
function isSameStatus(theirs: ExportRecord['status'], ours: RecordedResult['outcome'], source: ExportSource) {
  if (theirs === ours) return true;
  const isOver = ours === 'failed' || ours === 'cancelled';
  return source === 'registry' && isOver && theirs !== 'succeeded' && theirs !== 'pending';
}

/** `payment` is given where the record or the result is that payment's. */
function verdictOf(
  verdictClass: VerdictClass,
  { record, ours, payment }: { record?: ExportRecord; ours?: Ours; payment?: RequestedPayment },
): Verdict {
  const result = ours?.result;
  const paidAt = record?.paidAt ?? result?.paidAt ?? null;
  return {
    class: verdictClass,
    record: record ?? null,
    gatewayTransactionId: record?.gatewayTransactionId || (result?.gatewayTransactionId ?? ''),
    resultNo: ours?.resultNo ?? null,
    merchantCode: payment?.request.merchant.code ?? record?.merchantCode ?? '',
    paidAt: record ? paidAt : (paidAt ?? result?.at ?? null),
    ours: result ? { status: result.outcome, amountSen: result.amountSen, currency: result.currency } : null,
    theirs: record ? { status: record.status, amountSen: record.amountSen, currency: record.currency } : null,
  };
}

/** For one gateway transaction, the latest record counts, and every success that differs in more than its time. */
function separateRepeats(records: readonly ExportRecord[]) {
  const first: ExportRecord[] = [];
  const repeated: ExportRecord[] = [];
  const seen = new Set<string>();
  for (const record of records) {
    const { line: _, ...content } = record;
    const text = JSON.stringify(record.gatewayTransactionId === '' ? content : { ...content, paidAt: null });
    const isRepeated = seen.has(text) || records.some((other) => isOutdated(record, other));
    (isRepeated ? repeated : first).push(record);
    if (!isRepeated) seen.add(text);
  }
  return { first, repeated };
}

function isOutdated(record: ExportRecord, other: ExportRecord): boolean {
  if (record.status === 'succeeded' || record.gatewayTransactionId === '') return false;
  if (record.gatewayTransactionId !== other.gatewayTransactionId) return false;
  const [before, after] = [record.paidAt ?? '', other.paidAt ?? ''];
  return before < after || (before === after && record.line < other.line);
}

type Money = Pick<ExportRecord, 'amountSen' | 'currency'>;
/** A result in the ledger, and its number among the payment's recorded results, counted from 1. */
type Ours = { resultNo: number; result: RecordedResult };

type Pair = { record: ExportRecord; ours: Ours | null };

/**
 * Finds the result for each record, and the successes in the ledger that no record is about. The gateway's transaction
 * id decides. If one side has none, any result matches that does not contradict the record: successes first, the same
 * amount before another. The answer begins with the records of successes.
 */
function pairUp(
  records: readonly ExportRecord[],
  payment: RequestedPayment,
): { pairs: Pair[]; uncovered: Ours[] } {
  const results = payment.results
    .map((result, index) => ({ resultNo: index + 1, result }))
    .filter(({ result }) => !wasTakenOut(result));
  const successes = results.filter(({ result }) => result.outcome === 'succeeded');
  const current = results.filter(({ result }) => result === currentResult(payment));
  const pairs: Pair[] = records
    .toSorted((a, b) => Number(b.status === 'succeeded') - Number(a.status === 'succeeded'))
    .map((record) => ({ record, ours: sameTransaction(record, results) }));
  // A result whose transaction a record names is not available to other records, whether it was paired or not.
  const ids = new Set(pairs.map(({ record }) => record.gatewayTransactionId).filter((id) => id !== ''));
  const taken = new Set(
    results.filter(({ result }) => ids.has(result.gatewayTransactionId)).map(({ resultNo }) => resultNo),
  );
  for (const isMatch of [isSameSuccess, isCompatible]) {
    for (const pair of pairs.filter(({ ours }) => ours === null)) {
      const found = [...successes, ...current].find(
        (ours) => !taken.has(ours.resultNo) && isCompatible(pair.record, ours) && isMatch(pair.record, ours),
      );
      if (!found) continue;
      pair.ours = found;
      taken.add(found.resultNo);
    }
  }
  const uncovered = successes.filter(
    ({ result, resultNo }) => !taken.has(resultNo) && !isSameCharge(result, payment.results),
  );
  return { pairs, uncovered };
}

/** A charge that was reported again after a failure of it, or for another order, is one charge. */
const isSameCharge = (result: RecordedResult, others: readonly RecordedResult[]) =>
  result.role === 'contradiction' &&
  others.some(
    (other) =>
      other.outcome === 'succeeded' &&
      other.role !== 'contradiction' &&
      !differ(other.gatewayTransactionId, result.gatewayTransactionId) &&
      other.amountSen === result.amountSen,
  );

/**
 * Among the results of the record's transaction: one of the same money, else a success, else the last. If the bank took a
 * charge back, a record that is no success is about the result that said so.
 */
function sameTransaction(record: ExportRecord, results: readonly Ours[]): Ours | null {
  const { gatewayTransactionId: id } = record;
  if (id === '') return null;
  const same = results.filter(({ result }) => result.gatewayTransactionId === id);
  const reversal = same.find(({ result }) => result.resolved?.resolution === 'reversed');
  if (reversal && record.status !== 'succeeded') return reversal;
  const successes = same.filter(({ result }) => result.outcome === 'succeeded');
  return successes.find(({ result }) => isSameMoney(record, result)) ?? successes[0] ?? same.at(-1) ?? null;
}

const isSameSuccess = (record: ExportRecord, { result }: Ours) =>
  record.status === 'succeeded' && result.outcome === 'succeeded' && isSameMoney(record, result);

const isCompatible = (record: ExportRecord, { result }: Ours) =>
  !differ(record.gatewayTransactionId, result.gatewayTransactionId) &&
  !differ(record.sellerOrderNo, result.sellerOrderNo);

function isSameMoney(one: Money, other: Money): boolean {
  const isSameCurrency =
    one.currency.toUpperCase() === other.currency.toUpperCase() ||
    (isRinggit(one.currency) && isRinggit(other.currency));
  return one.amountSen === other.amountSen && isSameCurrency;
}
