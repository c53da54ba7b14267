/** What the records of one transaction in an export and the payment here say of each other. Pure. */
import type { Payment, RecordedResult, RequestedPayment } from '../events/payment.ts';
import type { DiscrepancyFound, DiscrepancyKind, ExportSource } from '../events/reconciliation.ts';
import type { ExportRecord } from './export-format.ts';
import { differ, isSameMoney, type Ours, pairUp } from './pair-up.ts';

/** Repeated: a row that says what an earlier row of the file said, or that a later one of its transaction overtook. */
export const verdictClasses = [
  'matched',
  'missingHere',
  'missingThere',
  'amountDiffers',
  'statusDiffers',
  'repeated',
] as const satisfies readonly (DiscrepancyKind | 'matched' | 'repeated')[];
export type VerdictClass = (typeof verdictClasses)[number];

/** On one record of theirs, or on a result of ours that the file has no record of. */
export type Verdict = Pick<
  DiscrepancyFound,
  'gatewayTransactionId' | 'resultNo' | 'merchantCode' | 'paidAt' | 'ours' | 'theirs'
> & {
  class: VerdictClass;
  record: ExportRecord | null;
};

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
  const { pairs, uncovered } = pairUp(records, payment);
  /** The first success that the payment does not know of is how its status differs; another one is other money. */
  let isPaid = payment.status === 'succeeded';
  const verdicts = pairs.map(({ record, ours }) => {
    const verdict = ours ? judge(record, ours, payment, source) : judgeUnknown(record, payment, isPaid);
    isPaid ||= record.status === 'succeeded' && verdict.class === 'statusDiffers';
    return verdict;
  });
  return [...verdicts, ...uncovered.map((ours) => missingThere(ours, payment))];
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
