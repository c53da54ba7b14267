/** Compares the records of one transaction in an export with the payment here. Pure. */
import type { Payment, RecordedResult, RequestedPayment } from '../events/payment.ts';
import type { DiscrepancyFound, DiscrepancyKind, ExportSource } from '../events/reconciliation.ts';
import type { ExportRecord } from './export-format.ts';
import { differ, isSameMoney, type Ours, pairUp } from './pair-up.ts';

/** Repeated: a row with the content of an earlier row of the file, or superseded by another one of its transaction. */
export const verdictClasses = [
  'matched',
  'missingHere',
  'missingThere',
  'amountDiffers',
  'statusDiffers',
  'repeated',
] as const satisfies readonly (DiscrepancyKind | 'matched' | 'repeated')[];
export type VerdictClass = (typeof verdictClasses)[number];

/** On one record of theirs, or on a result of ours for which the file has no record. */
export type Verdict = Pick<
  DiscrepancyFound,
  'gatewayTransactionId' | 'resultNo' | 'merchantCode' | 'paidAt' | 'ours' | 'theirs'
> & {
  class: VerdictClass;
  record: ExportRecord | null;
};

/**
 * One verdict for each record, and one for each success recorded here that no record is about, at any time. Money
 * decides: a failed attempt is not a discrepancy once the payment has moved on.
 */
export function compareRecords(
  records: readonly ExportRecord[],
  payment: Payment,
  source: ExportSource,
): Verdict[] {
  const { first, repeated } = separateRepeats(records);
  const requested = payment.status === 'none' ? null : payment;
  const own = first.filter((record) => requested && isOfMerchant(record, requested));
  const foreign = first.filter((record) => !own.includes(record));
  return [
    ...(requested ? compareOwn(own, requested, source) : []),
    ...foreign.map((record) => verdictOf('missingHere', { record })),
    ...repeated.map((record) => verdictOf('repeated', { record })),
  ];
}

function compareOwn(
  records: readonly ExportRecord[],
  payment: RequestedPayment,
  source: ExportSource,
): Verdict[] {
  const { pairs, uncovered } = pairUp(records, payment);
  // The first success that the payment does not have means that its status differs; a second one is other money.
  let isPaid = payment.status === 'succeeded';
  const verdicts = pairs.map(({ record, ours }) => {
    const verdict = ours
      ? verdictOf(classOf(record, ours.result, source), { record, ours, payment })
      : verdictWithoutResult(record, payment, isPaid);
    isPaid ||= record.status === 'succeeded' && verdict.class === 'statusDiffers';
    return verdict;
  });
  return [...verdicts, ...uncovered.map((ours) => verdictOf('missingThere', { ours, payment }))];
}

function classOf(record: ExportRecord, result: RecordedResult, source: ExportSource): VerdictClass {
  if (!isSameStatus(record.status, result.outcome, source)) return 'statusDiffers';
  return record.status !== 'succeeded' || isSameMoney(record, result) ? 'matched' : 'amountDiffers';
}

/** On a record that no result here is about. */
function verdictWithoutResult(record: ExportRecord, payment: RequestedPayment, isPaid: boolean): Verdict {
  if (record.status === 'succeeded' && isPaid) return verdictOf('missingHere', { record, payment });
  const isExpected = record.status !== 'succeeded' && isPlausible(record.status, payment.status);
  return {
    ...verdictOf(isExpected ? 'matched' : 'statusDiffers', { record, payment }),
    ours: { status: payment.status, amountSen: payment.request.amountSen, currency: '' },
  };
}

/** Whether an attempt that was not reported here may have ended like this, given the status of the payment. */
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

function isOfMerchant({ merchantCode }: ExportRecord, { request }: RequestedPayment): boolean {
  return !differ(merchantCode, request.merchant.code);
}

/** Of one gateway transaction, the latest record counts, and every success. */
function separateRepeats(records: readonly ExportRecord[]) {
  const first: ExportRecord[] = [];
  const repeated: ExportRecord[] = [];
  const seen = new Set<string>();
  for (const record of records) {
    const { line: _, ...content } = record;
    const text = JSON.stringify(content);
    const isRepeated = seen.has(text) || records.some((other) => isSuperseded(record, other));
    (isRepeated ? repeated : first).push(record);
    seen.add(text);
  }
  return { first, repeated };
}

function isSuperseded(record: ExportRecord, other: ExportRecord): boolean {
  if (record.status === 'succeeded' || record.gatewayTransactionId === '') return false;
  if (record.gatewayTransactionId !== other.gatewayTransactionId) return false;
  const [before, after] = [record.paidAt ?? '', other.paidAt ?? ''];
  return before < after || (before === after && record.line < other.line);
}
