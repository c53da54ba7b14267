// The child process of bench/rebuild.ts, whose memory is that of the rebuild alone: reads the log, or rebuilds a
// projection, and reports how long it took and how much memory it used.
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, START, streamNameFilter } from '@eventstore/db-client';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import type { RebuildProgress } from '@ledger/projections/rebuild/progress.ts';
import { rebuild } from '@ledger/projections/rebuild/rebuild.ts';
import { pino } from 'pino';
import { allProjections } from '../src/projections/all.ts';
import { openStores } from '../src/roles/stores.ts';

export type Measured = {
  events: number;
  seconds: number;
  /** Of this process. */
  cpuMs: number;
  residentPeak: number;
  /** Bytes of the heap after a garbage collection, after a quarter of the events and near their end. */
  heaps: number[];
};

const [what = '', total = '', esdbUrl = '', databaseUrl = ''] = process.argv.slice(2);
const log = pino({ level: 'warn' });
// The events of this log are in plain text: the key is for the blind index.
const dataKeys = { current: Buffer.alloc(32).toString('base64'), previous: [] };
const stores = openStores({ esdbUrl, databaseUrl, dataKeys }, log);
const { eventStore } = stores;
let residentPeak = 0;
const heaps: number[] = [];
const watch = setInterval(() => {
  residentPeak = Math.max(residentPeak, process.memoryUsage.rss());
}, 50);

const startedMs = performance.now();
const begun = process.cpuUsage();
const events = what === 'read' ? await read() : await rebuildOne(what);
const seconds = (performance.now() - startedMs) / 1000;
clearInterval(watch);
const { user, system } = process.cpuUsage(begun);
const cpuMs = (user + system) / 1000;
process.send?.({ events, seconds, cpuMs, residentPeak, heaps } satisfies Measured);
await stores.stop();
await sleep(0);
process.disconnect();

/** Only reads the events, with the official client alone. */
async function read(): Promise<number> {
  const client = EventStoreDBClient.connectionString(esdbUrl);
  const filter = streamNameFilter({ prefixes: ['payment-'] });
  const subscription = client.subscribeToAll({ fromPosition: START, filter });
  let count = 0;
  for await (const _ of subscription) {
    count += 1;
    if (count === Number(total)) break;
  }
  await client.dispose();
  return count;
}

async function rebuildOne(name: string): Promise<number> {
  const projection = allProjections.find((each) => each.name === name);
  if (!projection) throw new Error(`No projection ${name}`);
  const db = connectPostgres({ url: databaseUrl, log });
  const signal = new AbortController().signal;
  const onProgress = ({ events: taken }: RebuildProgress) => {
    const share = [0.25, 0.9][heaps.length];
    if (share && taken >= share * Number(total)) heaps.push(heapInUse());
  };
  const options = {
    projection,
    eventStore,
    db,
    databaseUrl,
    personalData: stores.personalData,
    log,
    runtime: systemRuntime,
    signal,
    onProgress,
  };
  const rebuilt = await rebuild(options);
  await db.destroy();
  return rebuilt.events;
}

function heapInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
