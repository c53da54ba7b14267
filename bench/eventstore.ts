// How fast the embedded event store is, against appending straight into SQLite with the same durability.
// Client and server are separate processes, as they are in use. Run alone: node bench/eventstore.ts

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';

/** One line of the result; `ratio` is to SQLite alone, `target` says what is asked for. */
export type Row = { name: string; value: number; unit: string; ratio?: number; target?: string };

const IN_FLIGHT = 64;
const MEASURED_MS = 3_000;
const STORED_EVENTS = 1_000_000;
const EVENTS_PER_LOADING_APPEND = 1_000;
const READ_EVENTS = 200_000;
/** With the names of its fields, 330 bytes of JSON. */
const DATA = { text: 'x'.repeat(319) };

/** Takes about a minute and 1 GB in the temporary folder. */
export async function benchEventStore(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-eventstore-'));
  try {
    const direct = directAppendsPerSecond(join(folder, 'direct.db'));
    const file = join(folder, 'events.db');
    const rows: Row[] = [{ name: `SQLite alone, groups of ${IN_FLIGHT}`, value: direct, unit: 'events/s' }];
    await withServer(file, async (client, server) => {
      const single = await appendsPerSecond(client, 1);
      const parallel = await appendsPerSecond(client, IN_FLIGHT);
      rows.push({ name: 'append, one at a time', value: single, unit: 'appends/s' });
      rows.push({
        name: `append, ${IN_FLIGHT} in flight`,
        value: parallel,
        unit: 'appends/s',
        ratio: parallel / direct,
        target: 'ratio >= 0.15',
      });
      await load(client, STORED_EVENTS);
      rows.push({
        name: 'read $all',
        value: await readsPerSecond(client),
        unit: 'events/s',
        target: '>= 25000',
      });
      const resident = await residentMebibytes(server);
      rows.push({
        name: `memory, ${STORED_EVENTS} events more`,
        value: resident,
        unit: 'MiB',
        target: '< 250',
      });
    });
    const startedMs = performance.now();
    await withServer(file, async (client, server) => {
      for await (const _ of client.readAll({ maxCount: 1 }));
      const startSeconds = (performance.now() - startedMs) / 1000;
      rows.push({
        name: 'start to first answer on that file',
        value: startSeconds,
        unit: 's',
        target: '< 2',
      });
      const resident = await residentMebibytes(server);
      rows.push({ name: 'memory after the start', value: resident, unit: 'MiB', target: '< 250' });
    });
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function directAppendsPerSecond(file: string): number {
  const db = new DatabaseSync(file);
  db.exec(`
    pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full;
    create table events (position integer primary key, data text not null);
  `);
  const insert = db.prepare('insert into events (data) values (?)');
  const data = JSON.stringify(DATA);
  const startedMs = performance.now();
  let events = 0;
  while (performance.now() - startedMs < MEASURED_MS) {
    db.exec('begin immediate');
    for (let i = 0; i < IN_FLIGHT; i += 1) insert.run(data);
    db.exec('commit');
    events += IN_FLIGHT;
  }
  const seconds = (performance.now() - startedMs) / 1000;
  db.close();
  return events / seconds;
}

async function withServer(
  file: string,
  use: (client: EventStoreDBClient, server: ChildProcess) => Promise<void>,
): Promise<void> {
  const server = fork(new URL('eventstore-server.ts', import.meta.url), [file]);
  const [{ port }] = await once(server, 'message');
  const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);
  try {
    await use(client, server);
  } finally {
    await client.dispose();
    server.disconnect();
    await once(server, 'exit');
  }
}

async function appendsPerSecond(client: EventStoreDBClient, inFlight: number): Promise<number> {
  let appended = 0;
  const startedMs = performance.now();
  const appendInTurn = async (lane: number): Promise<void> => {
    for (let i = 0; performance.now() - startedMs < MEASURED_MS; i += 1) {
      const event = jsonEvent({ type: 'Measured', data: DATA });
      await client.appendToStream(`bench-${inFlight}-${lane}-${i}`, event, { expectedRevision: NO_STREAM });
      appended += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, lane) => appendInTurn(lane)));
  return appended / ((performance.now() - startedMs) / 1000);
}

async function load(client: EventStoreDBClient, events: number): Promise<void> {
  for (let loaded = 0; loaded < events; loaded += EVENTS_PER_LOADING_APPEND) {
    const batch = Array.from({ length: EVENTS_PER_LOADING_APPEND }, () =>
      jsonEvent({ type: 'Loaded', data: DATA }),
    );
    await client.appendToStream(`load-${loaded}`, batch, { expectedRevision: NO_STREAM });
  }
}

async function readsPerSecond(client: EventStoreDBClient): Promise<number> {
  const startedMs = performance.now();
  let read = 0;
  for await (const _ of client.readAll({ maxCount: READ_EVENTS })) read += 1;
  return read / ((performance.now() - startedMs) / 1000);
}

async function residentMebibytes(server: ChildProcess): Promise<number> {
  server.send('memory');
  const [{ residentBytes }] = await once(server, 'message');
  return residentBytes / 1024 / 1024;
}

if (import.meta.main) {
  for (const { name, value, unit, ratio, target } of await benchEventStore()) {
    const figures = `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`;
    const against = ratio === undefined ? '' : ` (ratio ${ratio.toFixed(2)})`;
    process.stdout.write(`${name.padEnd(42)} ${figures}${against}${target ? `, target ${target}` : ''}\n`);
  }
}
