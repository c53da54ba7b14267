/** The transaction registry's wire: asks what became of a payment, and reads the answer in the ledger's own terms. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { HTTPError, RequestError } from 'got';
import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { array, create, type Infer, type Struct, size, type } from 'superstruct';
import { readGatewayTime } from '../events/malaysian-time.ts';
import { readAmount } from '../events/money.ts';
import {
  type PaymentResult,
  type RegistryAnswer,
  type RegistryStatus,
  registryStatuses,
} from '../events/payment.ts';
import { oneLine, readMode } from './gateway.ts';
import { lenientText } from './lenient-text.ts';

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

export type TransactionRegistry = {
  /** What the registry knows of the payment that the gateway knows as this TRANS_ID. Throws RegistryUnavailable. */
  ask(transactionId: string): Promise<RegistryAnswer>;
  /**
   * What it knows of the records that the land registry's transaksi_id leads to, where they are of this payment. Throws
   * RegistryUnavailable.
   */
  askByTransaksiId(payment: { transactionId: string; reference: string }): Promise<RegistryAnswer>;
};

/** The registry's numbers are its own: 1 is success on both wires, 2 and 0 are not what they are on the gateway's. */
const statuses: Readonly<Record<string, RegistryStatus>> = {
  '0': 'attempted',
  '1': 'succeeded',
  '2': 'failed',
  '3': 'pending',
  '99': 'not_found',
};

const retries = 2;
const connectMs = 3_000;
const maxAnswerBytes = 128 * 1024;
/** The registry is not ours to overrun: what is more waits its turn, within its own time. */
const maxConnections = 16;

const RegistryRecord = type({
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
type RegistryRecord = Infer<typeof RegistryRecord>;

/** With a space, not an underscore. */
const transaksiIdKey = 'transaksi id';
/** More attempts than a payment has. */
const maxExtras = 100;
const Extras = size(
  array(type({ transaction_id: lenientText, key: lenientText, value: lenientText })),
  0,
  maxExtras,
);

/**
 * A client of the registry at `url`, with `token` as Bearer. One question takes at most `timeoutMs`, further tries after
 * a broken connection or a 5xx included. Redirects are not followed.
 */
export function createTransactionRegistry(dependencies: {
  url: string;
  token: string;
  log: Pick<Logger, 'warn'>;
  timeoutMs?: number;
}): TransactionRegistry {
  const { url, token, log, timeoutMs = 10_000 } = dependencies;
  const connections = { keepAlive: true, maxSockets: maxConnections };
  const client = got.extend({
    agent: { http: new HttpAgent(connections), https: new HttpsAgent(connections) },
    headers: { accept: 'application/json', authorization: `Bearer ${token}`, 'user-agent': 'payment-ledger' },
    decompress: false,
    followRedirect: false,
    retry: { limit: 0 },
    timeout: { connect: connectMs },
  });

  /** Within one time-out for all that it takes. */
  async function within<T>(work: (fetch: Fetch) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    const fetch: Fetch = (path, query = {}) => {
      const question = new URL(`${url}/${path}`);
      // Not URLSearchParams, which would write a space as a plus sign.
      question.search = Object.entries(query)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');
      return pRetry(() => fetchBody(client, question, signal), {
        retries,
        minTimeout: 200,
        randomize: true,
        signal,
        shouldRetry: ({ error }) => isWorthAnotherTry(error),
      });
    };
    try {
      return await work(fetch);
    } catch (error) {
      throw signal.aborted ? new RegistryUnavailable('too_late', 'No answer in time') : asUnavailable(error);
    }
  }

  /** Those that are asked about, of all that were sent. */
  function own<Row>(rows: readonly Row[], isOwn: (row: Row) => boolean): Row[] {
    const kept = rows.filter(isOwn);
    if (kept.length < rows.length)
      log.warn({ records: rows.length - kept.length }, "the registry sent other people's transactions");
    return kept;
  }

  const answerAbout = (transactionId: string, records: readonly RegistryRecord[]) =>
    answerOf(own(records, (it) => it.merchant_trans_id === transactionId).map(readRecord));

  return {
    ask: (transactionId) =>
      within(async (fetch) => {
        const body = await fetch('transactions', { merchant_trans_id: transactionId });
        return answerAbout(transactionId, read(body, array(RegistryRecord)));
      }),

    askByTransaksiId: ({ transactionId, reference }) =>
      within(async (fetch) => {
        const body = await fetch('transaction-extras', { key: transaksiIdKey, value: reference });
        const extras = own(
          read(body, Extras),
          ({ key, value }) => key === transaksiIdKey && value === reference,
        );
        const ids = new Set(extras.map(({ transaction_id }) => transaction_id));
        const records = await Promise.all(Array.from(ids, (id) => fetchRecord(fetch, id)));
        return answerAbout(
          transactionId,
          records.filter((record) => record !== null),
        );
      }),
  };
}

type Fetch = (path: string, query?: Record<string, string>) => Promise<string>;

/** Null where there is no record of this id. */
async function fetchRecord(fetch: Fetch, id: string): Promise<RegistryRecord | null> {
  try {
    return read(await fetch(`transactions/${encodeURIComponent(id)}`), RegistryRecord);
  } catch (error) {
    if (error instanceof HTTPError && error.response.statusCode === 404) return null;
    throw error;
  }
}

/** The body as text; a body that is too large is given up as soon as it is. */
async function fetchBody(client: typeof got, url: URL, signal: AbortSignal): Promise<string> {
  const answer = client.stream(url, { signal });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new RegistryUnavailable('no_answer', 'The answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof HTTPError) return error.response.statusCode >= 500;
  return error instanceof RequestError;
}

/** Without the cause: that of got holds the token, that of a parser quotes the answer. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof HTTPError)
    return new RegistryUnavailable('no_answer', `The answer is HTTP ${error.response.statusCode}`);
  if (error instanceof RequestError)
    return new RegistryUnavailable('unreachable', `No connection (${error.code})`);
  return error;
}

/** Throws RegistryUnavailable. */
function read<T>(body: string, struct: Struct<T, unknown>): T {
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
  const status = Object.hasOwn(statuses, fields.eps_status) ? statuses[fields.eps_status] : undefined;
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
 * are money to refund.
 */
function answerOf(records: readonly Received[]): RegistryAnswer {
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
