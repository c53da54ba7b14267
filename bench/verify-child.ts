// The child process of bench/verify.ts, whose memory is that of verifying alone: seals the log, or verifies all of it or
// its last tenth, and reports what that took.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime as runtime } from '@ledger/kernel/system-runtime.ts';
import { createLeaderElection } from '@ledger/postgres/leader-election.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { forAll, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { pino } from 'pino';
import { allSeals, lastCheckpoint } from '../src/audit/seals/find-seals.ts';
import { keptCheckpoints } from '../src/audit/seals/kept-checkpoints.ts';
import { startSealer } from '../src/audit/seals/sealer.ts';
import { readSignedSeal } from '../src/audit/seals/stored-seals.ts';
import { verify } from '../src/audit/verify/verify.ts';

export type Verified = {
  events: number;
  seconds: number;
  /** Of this process. */
  cpuMs: number;
  residentPeak: number;
  /** Bytes of the heap after a garbage collection, after 60 % of the events and near their end. */
  heaps: number[];
};

const [what, total = '', esdbUrl = '', databaseUrl = ''] = process.argv.slice(2);
const log = pino({ level: 'error' });
const eventStore = connectEventStore({ url: esdbUrl, log, runtime });
const db = connectPostgres({ url: databaseUrl, log });
const key = sealKeyOf('5ea1'.repeat(16));
const keys = { current: key, previous: null };
let residentPeak = 0;
const heaps: number[] = [];
const watch = setInterval(() => {
  residentPeak = Math.max(residentPeak, process.memoryUsage.rss());
}, 50);

const startedMs = performance.now();
const begun = process.cpuUsage();
const events = what === 'seal' ? await seal() : await verifyLog(what === 'since');
const seconds = (performance.now() - startedMs) / 1000;
clearInterval(watch);
const { user, system } = process.cpuUsage(begun);
const cpuMs = (user + system) / 1000;
process.send?.({ events, seconds, cpuMs, residentPeak, heaps } satisfies Verified);
await Promise.all([eventStore.close(), db.destroy()]);
process.disconnect();

async function seal(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-bench-'));
  const kept = keptCheckpoints(db, join(folder, 'last-checkpoint'));
  const sealer = startSealer({
    eventStore,
    election: createLeaderElection({ databaseUrl, runtime }),
    kept,
    origin: 'bench/log',
    keys: () => keys,
    runtime,
    log,
  });
  while ((await lastCheckpoint(eventStore))?.checkpoint.size !== Number(total)) await sleep(1_000);
  await sealer.stop();
  await rm(folder, { recursive: true });
  return Number(total);
}

/** All of it, or what came after the checkpoint at nine tenths. */
async function verifyLog(isSince: boolean): Promise<number> {
  const checkpoints = [];
  for await (const stored of allSeals(eventStore)) {
    const checkpoint = readSignedSeal(stored)?.checkpoint;
    if (checkpoint && checkpoint.size <= 0.9 * Number(total)) checkpoints.push(checkpoint);
  }
  const since = isSince ? (checkpoints.at(-1) ?? null) : null;
  const signal = new AbortController().signal;
  const { checked, violations } = await verify(
    {
      ...{ eventStore, db, databaseUrl, personalData: null, trusted: [forAll(key.publicKey)], since },
      ...{ runtime, log, signal },
    },
    ({ step, done }) => {
      const share = [0.6, 0.98][heaps.length];
      if (step === 'events of the log' && share && done >= share * Number(total)) heaps.push(heapInUse());
    },
  );
  // There are no rows in this database.
  const found = violations.filter(({ kind }) => !/^(rows of|the journal)/.test(kind));
  if (found.length > 0) throw new Error(JSON.stringify(found));
  return checked[0]?.count ?? 0;
}

function heapInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
