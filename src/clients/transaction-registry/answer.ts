/** Reads the transaction registry's answers in the ledger's own terms. */
import { parseNumbersAsText } from '@ledger/kernel/numbers-as-text.ts';
import { array, create, type Infer, type Struct, size, type } from 'superstruct';
import { readGatewayTime } from '../../common/malaysian-time.ts';
import { readAmount } from '../../common/money.ts';
import {
  type Outcome,
  type RegistryAnswer,
  type RegistryFault,
  type RegistryStatus,
  registryStatuses,
} from '../../events/payment-result.ts';
import { lenientText, oneLine, readMode, readReceiptNo } from '../wire-fields.ts';

/** The registry gave no usable answer. The message names no transaction and quotes nothing that the registry sent. */
export class RegistryUnavailable extends Error {
  override name = 'RegistryUnavailable';
  readonly fault: RegistryFault;
  /** Whether it would answer no other question at present either. */
  readonly isOutage: boolean;
  constructor(fault: RegistryFault, message: string, isOutage = fault !== 'no_answer') {
    super(message);
    this.fault = fault;
    this.isOutage = isOutage;
  }
}

export const RegistryRecord = type({
  merchant_trans_id: lenientText,
  eps_status: lenientText,
  receipt_no: lenientText,
  payment_mode: lenientText,
  gateway_id1: lenientText,
  buyer_bank: lenientText,
  buyer_name: lenientText,
  amount: lenientText,
  payment_datetime: lenientText,
});
export type RegistryRecord = Infer<typeof RegistryRecord>;

/** No payment has more attempts than this. */
const maxExtras = 100;
const Extra = type({ transaction_id: lenientText, key: lenientText, value: lenientText });
export const Extras = size(array(Extra), 0, maxExtras);

/**
 * Reads the body of an answer: a number keeps the digits of an id, and no text has half of a surrogate pair, which a JSON
 * escape can hold, but logs, events and pages cannot. Throws RegistryUnavailable.
 */
export function readAnswer<T>(body: string, struct: Struct<T, unknown>): T {
  try {
    const answer = parseNumbersAsText(body, (text) => text.toWellFormed());
    return create(answer, struct);
  } catch {
    throw new RegistryUnavailable('no_answer', 'The answer has another form than documented');
  }
}

/** The registry numbers its statuses differently from the gateway: there 0 is failed and 2 is cancelled. */
const statuses: ReadonlyMap<string, RegistryStatus> = new Map([
  ['0', 'attempted'],
  ['1', 'succeeded'],
  ['2', 'failed'],
  ['3', 'pending'],
  ['99', 'not_found'],
]);

/** Null where the number is unknown. */
export function readRegistryStatus(epsStatus: string): RegistryStatus | null {
  return statuses.get(epsStatus) ?? null;
}

/** Throws RegistryUnavailable where the status is unknown. */
function readRecord(fields: RegistryRecord) {
  const status = readRegistryStatus(fields.eps_status);
  if (!status) throw new RegistryUnavailable('no_answer', 'The answer has an unknown status');
  const result = {
    mode: readMode(oneLine(fields.payment_mode)),
    // A record has neither our order number nor a currency.
    sellerOrderNo: '',
    gatewayTransactionId: oneLine(fields.gateway_id1),
    amountSen: readAmount(fields.amount),
    currency: '',
    paidAt: readGatewayTime(fields.payment_datetime),
    receiptNo: readReceiptNo(fields.receipt_no),
    buyerBank: oneLine(fields.buyer_bank),
    buyerName: oneLine(fields.buyer_name),
    raw: rawOf(fields),
  };
  return { status, result };
}

/** The evidence: every field of the record as a text, empty where a documented field was not sent. */
function rawOf(record: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.toWellFormed(),
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/**
 * One status out of the records of all attempts. A success outranks the rest, and an open attempt outranks a failed
 * one, since the bank may still approve it. Every success is a result of its own: two of them mean a refund. A record
 * with an unknown status says nothing beside a success; without one, it could be anything. Throws RegistryUnavailable.
 */
export function answerOf(sent: readonly RegistryRecord[]): RegistryAnswer {
  const hasSuccess = sent.some(({ eps_status }) => readRegistryStatus(eps_status) === 'succeeded');
  const records = sent
    .filter(({ eps_status }) => !hasSuccess || statuses.has(eps_status))
    .map(readRecord)
    .toSorted((a, b) => (a.result.paidAt ?? '').localeCompare(b.result.paidAt ?? ''));
  const status = registryStatuses.find((candidate) => records.some((it) => it.status === candidate));
  const withStatus = records.filter((record) => record.status === status);
  const latest = withStatus.at(-1);
  if (!status || !latest) return { status: 'not_found', results: [], others: [], raw: {} };
  const hasResult = status !== 'attempted' && status !== 'not_found';
  const deciding = !hasResult ? [] : status === 'succeeded' ? withStatus : [latest];
  return {
    status,
    results: deciding.map(({ result }) => ({ outcome: status as Outcome, ...result })),
    others: records
      .filter((record) => !deciding.includes(record))
      .map(({ status, result }) => ({ status, ...result })),
    raw: latest.result.raw,
  };
}
