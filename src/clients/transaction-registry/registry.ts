/** The client of the transaction registry: asks for the status of a payment. Its answers are read in answer.ts. */
import { isUtf8 } from 'node:buffer';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Log } from '@ledger/kernel/log.ts';
import { readAtMost } from '@ledger/kernel/read-at-most.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { responseOf } from '@ledger/outbound/post.ts';
import { createSharedLookup } from '@ledger/outbound/shared-lookup.ts';
import got, { HTTPError, type Request, RequestError } from 'got';
import { array } from 'superstruct';
import type { RegistryAnswer } from '../../events/payment-result.ts';
import { answerOf, Extras, RegistryRecord, RegistryUnavailable, readAnswer } from './answer.ts';

export type TransactionRegistry = ReturnType<typeof createTransactionRegistry>;

/** Three attempts to connect and the pauses between them stay below the default timeout. */
const maxAttempts = 3;
const connectMs = 2_500;
const maxAnswerBytes = 128 * 1024;
/** Further questions wait for a connection, within their own timeout. */
const maxConnections = 100;

/** The token is refused, or the registry is overloaded or down. */
const outageStatuses = [401, 403, 429, 502, 503, 504];

/** With a space, not an underscore. */
const transaksiIdKey = 'transaksi id';

/**
 * A client of the registry at `config.url`, which sends `config.token` as Bearer; the token may change. One question
 * takes at most `timeoutMs`, including further attempts after a broken connection or a 5xx. Redirects are not followed.
 */
export function createTransactionRegistry(dependencies: {
  config: { url: string; token: string };
  log: Pick<Log, 'warn'>;
  runtime: Pick<Runtime, 'monotonicMs' | 'random' | 'sleep' | 'timeout'>;
  timeoutMs?: number;
}) {
  const { config, log, runtime, timeoutMs = 10_000 } = dependencies;
  const connections = { keepAlive: true, maxSockets: maxConnections };
  const client = got.extend({
    agent: { http: new HttpAgent(connections), https: new HttpsAgent(connections) },
    headers: { accept: 'application/json', 'user-agent': 'payment-ledger' },
    decompress: false,
    dnsLookup: createSharedLookup(),
    followRedirect: false,
    retry: { limit: 0 },
    // Otherwise got would read the whole body of an error, however long it is.
    throwHttpErrors: false,
    timeout: { connect: connectMs },
  });

  /** Gives all requests of one question the same timeout. */
  async function ask<T>(question: (get: Get) => Promise<T>): Promise<T> {
    const signal = runtime.timeout(timeoutMs);
    const get: Get = (path, query = {}) => {
      const address = new URL(`${config.url}/${path}`);
      // URLSearchParams would write a space as a plus sign.
      address.search = Object.entries(query)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');
      const authorized = () => ({ signal, headers: { authorization: `Bearer ${config.token}` } });
      return retry(() => bodyOf(client.stream(address, authorized())), {
        runtime,
        signal,
        firstMs: 400,
        maxAttempts,
        shouldRetry: (error) =>
          error instanceof HTTPError ? error.response.statusCode >= 500 : error instanceof RequestError,
      });
    };
    return await question(get).catch((error) => {
      throw signal.aborted ? timedOut(error) : asUnavailable(error);
    });
  }

  const answerAbout = (transactionId: string, records: readonly RegistryRecord[]) =>
    answerOf(own(log, records, (it) => it.merchant_trans_id === transactionId));

  return {
    /** What the registry knows about the payment with this TRANS_ID at the gateway. Throws RegistryUnavailable. */
    ask: (transactionId: string): Promise<RegistryAnswer> =>
      ask(async (get) => {
        const body = await get('transactions', { merchant_trans_id: transactionId });
        return answerAbout(transactionId, readAnswer(body, array(RegistryRecord)));
      }),

    /** The same, by the land registry's transaksi_id. Records of other payments are left out. */
    askByTransaksiId: ({ transactionId, reference }: { transactionId: string; reference: string }) =>
      ask(async (get) => {
        const body = await get('transaction-extras', { key: transaksiIdKey, value: reference });
        const extras = own(
          log,
          readAnswer(body, Extras),
          (it) => it.key === transaksiIdKey && it.value === reference && it.transaction_id !== '',
        );
        const ids = new Set(extras.map(({ transaction_id }) => transaction_id));
        const records = await Promise.all(Array.from(ids, (id) => getRecord(get, id)));
        return answerAbout(transactionId, records.flat());
      }),
  };
}

type Get = (path: string, query?: Record<string, string>) => Promise<string>;

/** Empty where there is no record with this id. */
async function getRecord(get: Get, id: string): Promise<RegistryRecord[]> {
  try {
    return [readAnswer(await get(`transactions/${encodeURIComponent(id)}`), RegistryRecord)];
  } catch (error) {
    if (error instanceof HTTPError && error.response.statusCode === 404) return [];
    throw error;
  }
}

/** Leaves out the rows of other payments, and logs how many there were. */
function own<Row>(log: Pick<Log, 'warn'>, rows: readonly Row[], isOwn: (row: Row) => boolean): Row[] {
  const kept = rows.filter(isOwn);
  if (kept.length < rows.length)
    log.warn({ records: rows.length - kept.length }, "the registry sent other people's transactions");
  return kept;
}

/** Reads no error, and no body that is too large. Leaves out a byte order mark; what is not UTF-8 is Windows-1252. */
async function bodyOf(request: Request): Promise<string> {
  try {
    const response = await responseOf(request);
    if (response.statusCode >= 300) throw new HTTPError(response);
    const body = await readAtMost(request, maxAnswerBytes);
    if (body) return new TextDecoder(isUtf8(body) ? 'utf-8' : 'windows-1252').decode(body);
    throw new RegistryUnavailable('no_answer', 'The answer is too large');
  } finally {
    request.destroy();
  }
}

function timedOut(error: unknown): RegistryUnavailable {
  const timings = error instanceof RequestError ? error.timings : undefined;
  // The attempt had its socket, but the registry never accepted the connection.
  return timings?.socket !== undefined && timings.connect === undefined
    ? new RegistryUnavailable('unreachable', 'No connection in time')
    : new RegistryUnavailable('too_late', 'No answer in time');
}

/** Without the cause: got's errors hold the token, and a parser's quote the answer. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof HTTPError) {
    const { statusCode } = error.response;
    const isOutage = outageStatuses.includes(statusCode);
    return new RegistryUnavailable('no_answer', `The answer is HTTP ${statusCode}`, isOutage);
  }
  if (error instanceof RequestError)
    return new RegistryUnavailable('unreachable', `No connection (${error.code})`);
  return error;
}
