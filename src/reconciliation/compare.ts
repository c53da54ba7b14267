/** What the records of one transaction in an export and the payment here say of each other. Pure. */
import {
  type Payment,
  type RecordedResult,
  type RequestedPayment,
  standingResult,
} from '../events/payment.ts';
import type { DifferenceFound, DifferenceKind, ExportSource } from '../events/reconciliation.ts';
import type { ExportRecord } from './export-format.ts';

/** Repeated: a row that says what an earlier row of the file said, or that a later one of its transaction overtook. */
export const verdictClasses = [
  'matched',
  'missingHere',
  'missingThere',
  'amountDiffers',
  'statusDiffers',
  'repeated',
] as const satisfies readonly (DifferenceKind | 'matched' | 'repeated')[];
export type VerdictClass = (typeof verdictClasses)[number];

/** On one record of theirs, or on a result of ours that the file has no record of. */
export type Verdict = Pick<
  DifferenceFound,
  'gatewayTransactionId' | 'resultNo' | 'merchantCode' | 'paidAt' | 'ours' | 'theirs'
> & {
  class: VerdictClass;
  record: ExportRecord | null;
};

type Money = Pick<ExportRecord, 'amountSen' | 'currency'>;
type Ours = { resultNo: number; result: RecordedResult };

/**
 * One verdict for each record, and one for each charge recorded here that no record speaks of, whenever that was. Money
 * decides: an attempt that came to nothing is no difference once the payment has moved on.
 */
export function compareRecords(
  records: readonly ExportRecord[],
  payment: Payment,
  source: ExportSource,
): Verdict[] {
  const { first, repeated } = apartFromRepeats(records);
  const own = payment.status === 'none' ? [] : first.filter((record) => isOfMerchant(record, payment));
  const strange = first.filter((record) => !own.includes(record));
  return [
    ...(payment.status === 'none' ? [] : compareOwn(own, payment, source)),
    ...strange.map((record) => missingHere(record)),
    ...repeated.map((record): Verdict => ({ ...missingHere(record), class: 'repeated' })),
  ];
}

function compareOwn(
  records: readonly ExportRecord[],
  payment: RequestedPayment,
  source: ExportSource,
): Verdict[] {
  const pairs = pairUp(records, payment);
  const taken = takenResults(pairs, payment);
  /** The first success that the payment does not know of is how its status differs; another one is other money. */
  let isPaid = payment.status === 'succeeded';
  const verdicts = pairs.map(({ record, ours }) => {
    const verdict = ours ? judge(record, ours, payment, source) : judgeUnknown(record, payment, isPaid);
    isPaid ||= record.status === 'succeeded' && verdict.class === 'statusDiffers';
    return verdict;
  });
  const uncovered = chargesOf(payment).filter(({ resultNo }) => !taken.has(resultNo));
  return [...verdicts, ...uncovered.map((ours) => missingThere(ours, payment))];
}

type Pair = { record: ExportRecord; ours: Ours | null };

/**
 * Finds each record its result here. The gateway's own number of the transaction decides; where one side has none, what
 * does not contradict it, successes first, the same amount before another. Successes come first in what is returned.
 */
function pairUp(records: readonly ExportRecord[], payment: RequestedPayment): Pair[] {
  const ordered = records.toSorted(
    (a, b) => Number(b.status === 'succeeded') - Number(a.status === 'succeeded') || a.line - b.line,
  );
  const pairs: Pair[] = ordered.map((record) => ({ record, ours: sameTransaction(record, payment) }));
  const taken = takenResults(pairs, payment);
  const standing = standingOf(payment);
  const open = [...chargesOf(payment), ...(standing ? [standing] : [])];
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
  return pairs;
}

/** What was recorded of the gateway's transaction that the record names: the same money, else a success, else the last. */
function sameTransaction(record: ExportRecord, payment: RequestedPayment): Ours | null {
  const { gatewayTransactionId: id } = record;
  if (id === '') return null;
  const same = ownResults(payment).filter(({ result }) => result.gatewayTransactionId === id);
  const charges = same.filter(({ result }) => result.outcome === 'succeeded');
  return charges.find(({ result }) => isSameMoney(record, result)) ?? charges[0] ?? same.at(-1) ?? null;
}

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

function judge(record: ExportRecord, ours: Ours, payment: RequestedPayment, source: ExportSource): Verdict {
  const { outcome, amountSen, currency } = ours.result;
  const verdict = (verdictClass: VerdictClass): Verdict => ({
    class: verdictClass,
    record,
    gatewayTransactionId: record.gatewayTransactionId || ours.result.gatewayTransactionId,
    resultNo: ours.resultNo,
    merchantCode: payment.request.merchant.code,
    paidAt: record.paidAt ?? ours.result.paidAt,
    ours: { status: outcome, amountSen, currency },
    theirs: theirSide(record),
  });
  if (!isSameStatus(record.status, outcome, source)) return verdict('statusDiffers');
  if (record.status !== 'succeeded') return verdict('matched');
  return verdict(isSameMoney(record, ours.result) ? 'matched' : 'amountDiffers');
}

/** Of a record that no result here speaks of. */
function judgeUnknown(record: ExportRecord, payment: RequestedPayment, isPaid: boolean): Verdict {
  const { amountSen, merchant } = payment.request;
  if (record.status === 'succeeded' && isPaid) return missingHere(record, merchant.code);
  const isKnown = record.status !== 'succeeded' && isPlausible(record.status, payment.status);
  return {
    ...missingHere(record, merchant.code),
    class: isKnown ? 'matched' : 'statusDiffers',
    ours: { status: payment.status, amountSen, currency: '' },
  };
}

/** Whether an attempt that nobody told us of may have ended so, given where the payment stands. */
function isPlausible(theirs: Exclude<ExportRecord['status'], 'succeeded'>, ours: RequestedPayment['status']) {
  if (ours === 'succeeded' || theirs === 'attempted' || theirs === 'not_found') return true;
  return theirs === 'pending' ? ours === 'pending' : ours !== 'requested';
}

/** The registry knows no cancellation: that is a failure to it, or an attempt of which nothing came. */
function isSameStatus(theirs: ExportRecord['status'], ours: RecordedResult['outcome'], source: ExportSource) {
  if (theirs === ours) return true;
  const isOver = ours === 'failed' || ours === 'cancelled';
  return source === 'registry' && isOver && theirs !== 'succeeded' && theirs !== 'pending';
}

function missingHere(record: ExportRecord, merchantCode = record.merchantCode): Verdict {
  const { gatewayTransactionId, paidAt } = record;
  return {
    class: 'missingHere',
    record,
    gatewayTransactionId,
    resultNo: null,
    merchantCode,
    paidAt,
    ours: null,
    theirs: theirSide(record),
  };
}

function missingThere({ resultNo, result }: Ours, { request }: RequestedPayment): Verdict {
  const { outcome, amountSen, currency, paidAt, at } = result;
  return {
    class: 'missingThere',
    record: null,
    gatewayTransactionId: result.gatewayTransactionId,
    resultNo,
    merchantCode: request.merchant.code,
    paidAt: paidAt ?? at,
    ours: { status: outcome, amountSen, currency },
    theirs: null,
  };
}

function ownResults({ results }: RequestedPayment): Ours[] {
  return results.map((result, index) => ({ resultNo: index + 1, result }));
}

/** All money that results reported: what paid, and what was set apart. */
function chargesOf(payment: RequestedPayment): Ours[] {
  return ownResults(payment).filter(({ result }) => result.outcome === 'succeeded');
}

function standingOf(payment: RequestedPayment): Ours | null {
  const standing = standingResult(payment);
  return ownResults(payment).find(({ result }) => result === standing) ?? null;
}

function isOfMerchant({ merchantCode }: ExportRecord, { request }: RequestedPayment): boolean {
  return !differ(merchantCode, request.merchant.code);
}

/** Of one gateway transaction, what came of it in the end counts; of each success, that it was one. */
function apartFromRepeats(records: readonly ExportRecord[]) {
  const first: ExportRecord[] = [];
  const repeated: ExportRecord[] = [];
  const said = new Set<string>();
  for (const record of records) {
    const { line: _, ...content } = record;
    const text = JSON.stringify(content);
    const isRepeat = said.has(text) || records.some((other) => isOvertaken(record, other));
    (isRepeat ? repeated : first).push(record);
    said.add(text);
  }
  return { first, repeated };
}

function isOvertaken(record: ExportRecord, other: ExportRecord): boolean {
  if (record.status === 'succeeded' || record.gatewayTransactionId === '') return false;
  if (record.gatewayTransactionId !== other.gatewayTransactionId) return false;
  const [before, after] = [record.paidAt ?? '', other.paidAt ?? ''];
  return before < after || (before === after && record.line < other.line);
}

function theirSide({ status, amountSen, currency }: ExportRecord) {
  return { status, amountSen, currency };
}

function isSameMoney(one: Money, other: Money): boolean {
  return one.amountSen === other.amountSen && currencyOf(one.currency) === currencyOf(other.currency);
}

function currencyOf(text: string): string {
  const currency = text.toUpperCase();
  return currency === '' || currency === 'RM' ? 'MYR' : currency;
}

function differ(one: string, other: string): boolean {
  return one !== '' && other !== '' && one !== other;
}
