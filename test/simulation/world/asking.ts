/** How people and the systems of merchants ask the program: any process that answers requests, and not for too long. */
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Plan } from '../plan.ts';
import { landRegistryKey } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import type { Bank } from './bank.ts';
import type { Gateway } from './gateway.ts';
import { type Answer, ask, jsonHeaders } from './http.ts';
import type { Links } from './links.ts';
import type { Wallets } from './wallets.ts';

export type World = {
  process: SimulatedProcess;
  bank: Bank;
  gateway: Gateway;
  links: Links;
  wallets: Wallets;
  pickHttp: () => string;
  report: Report;
  history: History;
  /** How long an answer may take. */
  patienceMs: number;
  /** Since when a process has not known the merchant that is removed; null if it knows it. */
  lacksMerchantSinceMs: (host: string) => number | null;
  /** By how much the clock of PostgreSQL, which tells the program the time, is ahead at most. */
  databaseAheadMs: number;
  /** Pauses of the program then take minutes, and nobody waits for so long. */
  isCalm: () => boolean;
  /** Processes that are stopped or far away at times: they answer late through no fault of the program. */
  troubled: ReadonlySet<string>;
  /** Since when a charge of the payment is recorded, in whatever way; null if none is, or if pages may be old. */
  chargedSinceMs: (transactionId: string) => number | null;
};

/**
 * A request waits for the program's own pauses, too, which are late here. An append is tried for 2.5 s, looked for and
 * repeated for 5 s, and looked for and repeated a last time.
 */
export const patienceMsIn = ({ stretch }: Plan): number => 13_000 * stretch;

/** A page may be old at times; what the payer chooses there is decided by an append, which only the leader takes. */
export const chargedSinceMsIn =
  (log: LogCheck, isOld: () => boolean): World['chargedSinceMs'] =>
  (transactionId) => {
    if (isOld()) return null;
    log.look();
    return log.payments.get(transactionId)?.chargedSinceMs ?? null;
  };

/** How long the registry may take to answer (content/docs/requery.md). */
export const registryMs = 10_000;

/** A node that is cut off from everybody does not hear those who ask either, or is not heard by them. */
export const troubledIn = ({ faults }: Plan): ReadonlySet<string> =>
  new Set(
    faults.flatMap((it) => {
      if (it.kind === 'pause' || it.kind === 'slow') return [it.node];
      if (it.kind !== 'cut') return [];
      return it.from === '*' ? [it.to] : it.to === '*' ? [it.from] : [];
    }),
  );

export async function timed(
  what: string,
  { process, pickHttp, report, patienceMs, isCalm, troubled }: World,
  run: (host: string) => Promise<Answer | null>,
): Promise<Answer | null> {
  const host = pickHttp();
  const startedMs = process.nowMs();
  const answer = await run(host);
  const tookMs = process.nowMs() - startedMs;
  if (tookMs > patienceMs && !troubled.has(host) && (answer || !isCalm()))
    report(
      'slow-answer',
      what,
      `${answer ? `Answered ${answer.status}` : 'Not answered'} after ${tookMs} ms`,
    );
  return answer;
}

/** With the newest of the merchant's own keys. */
export async function askAsMerchant(
  what: string,
  { merchant, ...request }: { merchant: string; path: string; method?: 'GET' | 'POST'; body?: string },
  world: World,
): Promise<Answer | null> {
  const { process, wallets } = world;
  const key = merchant === 'land' ? landRegistryKey : (wallets.keyOf(merchant) ?? '');
  const headers = {
    ...jsonHeaders,
    accept: 'application/json',
    'x-merchant-code': merchant,
    authorization: `Bearer ${key}`,
  };
  const answer = await timed(what, world, (host) => ask(process, { host, headers, ...request }));
  if (answer?.status === 401) wallets.refused(merchant, key);
  return answer;
}
