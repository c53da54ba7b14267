/** What the transaction registry's answers say, read in the ledger's own terms. */
import { array, create, type Infer, type Struct, size, type } from 'superstruct';
import {
  type PaymentResult,
  type RegistryAnswer,
  type RegistryStatus,
  registryStatuses,
} from '../../events/payment-result.ts';
import { readGatewayTime } from '../../kernel/malaysian-time.ts';
import { readAmount } from '../../kernel/money.ts';
import { oneLine, readMode } from '../gateway/read-result.ts';
import { lenientText } from '../lenient-text.ts';
import { readRegistryStatus } from './status.ts';

export type RegistryFault = 'unreachable' | 'too_late' | 'no_answer';

/**
 * The registry could not be asked. `fault` says why: no connection, no answer in time, or something that is no answer.
 * The message names no transaction and holds nothing that the registry sent.
 */
export class RegistryUnavailable extends Error {
  override name = 'RegistryUnavailable';
  readonly fault: RegistryFault;
  constructor(fault: RegistryFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
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

/** More attempts than a payment has. */
const maxExtras = 100;
export const Extras = size(
  array(type({ transaction_id: lenientText, key: lenientText, value: lenientText })),
  0,
  maxExtras,
);

/** Reads the body of an answer. Throws RegistryUnavailable. */
export function readAnswer<T>(body: string, struct: Struct<T, unknown>): T {
  try {
    return create(JSON.parse(body, wellFormed), struct);
  } catch {
    throw new RegistryUnavailable('no_answer', 'The answer is not what was asked for');
  }
}

/** An escape in JSON can hold half a character, which no log, event or page could. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

type Received = {
  fields: RegistryRecord;
  status: RegistryStatus;
  paidAt: string | null;
  raw: Record<string, string>;
};

/** Throws RegistryUnavailable where the record numbers a status that we do not know: nobody guesses. */
function readRecord(fields: RegistryRecord): Received {
  const status = readRegistryStatus(fields.eps_status);
  if (!status) throw new RegistryUnavailable('no_answer', 'The answer has a status that is not known');
  return { fields, status, paidAt: readGatewayTime(fields.payment_datetime), raw: rawOf(fields) };
}

/** As evidence: every field of the record as a text, empty where the interface has one that was not sent. */
function rawOf(record: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.toWellFormed(),
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/**
 * One status out of several records, one for each attempt. A success outranks the rest, and what is still open outranks
 * what has failed: nobody is told of a failure while the bank may yet say yes. Every success is a result: two of them
 * are money to refund. Throws RegistryUnavailable.
 */
export function answerOf(sent: readonly RegistryRecord[]): RegistryAnswer {
  const records = sent.map(readRecord);
  const status = registryStatuses.find((candidate) => records.some((it) => it.status === candidate));
  const deciding = records
    .filter((record) => record.status === status)
    .toSorted((a, b) => (a.paidAt ?? '').localeCompare(b.paidAt ?? ''));
  const latest = deciding.at(-1);
  if (!status || !latest) return { status: 'not_found', results: [], raw: {} };
  if (status === 'attempted' || status === 'not_found') return { status, results: [], raw: latest.raw };
  const results = (status === 'succeeded' ? deciding : [latest]).map((record) => resultOf(record, status));
  return { status, results, raw: latest.raw };
}

/** A record names neither our order number nor a currency. */
function resultOf({ fields, paidAt, raw }: Received, outcome: PaymentResult['outcome']): PaymentResult {
  return {
    outcome,
    mode: readMode(oneLine(fields.payment_mode)),
    sellerOrderNo: '',
    gatewayTransactionId: oneLine(fields.gateway_id1),
    amountSen: readAmount(fields.amount),
    currency: '',
    paidAt,
    receiptNo: oneLine(fields.receipt_no),
    buyerBank: oneLine(fields.buyer_bank),
    buyerName: oneLine(fields.buyer_name),
    raw,
  };
}
