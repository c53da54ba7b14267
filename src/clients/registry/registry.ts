/** The transaction registry's wire: asks what became of a payment. What the answer says is read in registry-answer.ts. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { HTTPError, RequestError } from 'got';
import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { array } from 'superstruct';
import type { RegistryAnswer } from '../../events/payment-result.ts';
import { answerOf, Extras, RegistryRecord, RegistryUnavailable, readAnswer } from './answer.ts';

export type TransactionRegistry = {
  /** What the registry knows of the payment that the gateway knows as this TRANS_ID. Throws RegistryUnavailable. */
  ask(transactionId: string): Promise<RegistryAnswer>;
  /**
   * What it knows of the records that the land registry's transaksi_id leads to, where they are of this payment. Throws
   * RegistryUnavailable.
   */
  askByTransaksiId(payment: { transactionId: string; reference: string }): Promise<RegistryAnswer>;
};

const retries = 2;
/** All tries with the pauses between them stay below the default time-out. */
const connectMs = 2_500;
const maxAnswerBytes = 128 * 1024;
/** The registry is not ours to overrun: what is more waits its turn, within its own time. */
const maxConnections = 16;

/** With a space, not an underscore. */
const transaksiIdKey = 'transaksi id';
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
    let lastFault: unknown;
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
        onFailedAttempt: ({ error }) => {
          lastFault = error;
        },
        shouldRetry: ({ error }) => isWorthAnotherTry(error),
      });
    };
    try {
      return await work(fetch);
    } catch (error) {
      if (!signal.aborted) throw asUnavailable(error);
      throw isWithoutConnection(lastFault)
        ? new RegistryUnavailable('unreachable', 'No connection in time')
        : new RegistryUnavailable('too_late', 'No answer in time');
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
    answerOf(own(records, (it) => it.merchant_trans_id === transactionId));

  return {
    ask: (transactionId) =>
      within(async (fetch) => {
        const body = await fetch('transactions', { merchant_trans_id: transactionId });
        return answerAbout(transactionId, readAnswer(body, array(RegistryRecord)));
      }),

    askByTransaksiId: ({ transactionId, reference }) =>
      within(async (fetch) => {
        const body = await fetch('transaction-extras', { key: transaksiIdKey, value: reference });
        const extras = own(
          readAnswer(body, Extras),
          (it) => it.key === transaksiIdKey && it.value === reference && it.transaction_id !== '',
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
    return readAnswer(await fetch(`transactions/${encodeURIComponent(id)}`), RegistryRecord);
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

/** Whether a try had its socket, and the registry never took it. */
function isWithoutConnection(error: unknown): boolean {
  if (!(error instanceof RequestError)) return false;
  return error.timings?.socket !== undefined && error.timings.connect === undefined;
}

/** Without the cause: that of got holds the token, that of a parser quotes the answer. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof HTTPError)
    return new RegistryUnavailable('no_answer', `The answer is HTTP ${error.response.statusCode}`);
  if (error instanceof RequestError)
    return new RegistryUnavailable('unreachable', `No connection (${error.code})`);
  return error;
}
