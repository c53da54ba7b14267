// The speed of the embedded event store, compared with appending directly to SQLite with the same durability.
// Client and server are separate processes, as in real use. Run alone: node bench/eventstore.ts
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { openStorage } from '../packages/embedded/eventstore/storage.ts';
import type { Row } from './row.ts';

const IN_FLIGHT = 64;
const MEASURED_MS = 3_000;
const STORED_EVENTS = 1_000_000;
const EVENTS_PER_STREAM = 10;
const READ_EVENTS = 200_000;
/** 330 bytes of JSON, including the field names. */
const DATA = { text: 'x'.repeat(319) };

/** Takes about a minute and 1 GB in the temporary folder. */
export async function benchEventStore(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-eventstore-'));
  try {
    const direct = directAppendsPerSecond(join(folder, 'direct.db'));
    const file = join(folder, 'events.db');
    const rows: Row[] = [{ name: `SQLite alone, groups of ${IN_FLIGHT}`, value: direct, unit: 'events/s' }];
    await withServer(file, async (client) => {
      rows.push(await appends(client, 1, direct), await appends(client, IN_FLIGHT, direct));
    });
    await load(file);
    const startedMs = performance.now();
    await withServer(file, async (client, server) => {
      for await (const _ of client.readAll({ maxCount: 1 }));
      const startSeconds = (performance.now() - startedMs) / 1000;
      rows.push({
        name: 'start to first answer, with a million events',
        value: startSeconds,
        unit: 's',
        target: '<= 2',
      });
      rows.push(await reads(client));
      rows.push({
        ...(await appends(client, IN_FLIGHT, direct)),
        name: `append, ${IN_FLIGHT} in flight, with a million events`,
      });
      const resident = await residentMebibytes(server);
      rows.push({ name: 'memory afterwards', value: resident, unit: 'MiB', target: '<= 250' });
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
  const server = fork(new URL('eventstore-server.ts', import.meta.url), [file], {
    execArgv: ['--max-semi-space-size=8'],
  });
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

async function appends(client: EventStoreDBClient, inFlight: number, direct: number): Promise<Row> {
  let appended = 0;
  const startedMs = performance.now();
  const appendInTurn = async (): Promise<void> => {
    while (performance.now() - startedMs < MEASURED_MS) {
      const event = jsonEvent({ type: 'Measured', data: DATA });
      await client.appendToStream(`bench-${randomUUID()}`, event, { expectedRevision: NO_STREAM });
      appended += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, appendInTurn));
  const perSecond = appended / ((performance.now() - startedMs) / 1000);
  const row = {
    name: `append, ${inFlight} in flight`,
    value: perSecond,
    unit: 'appends/s',
    ratio: perSecond / direct,
  };
  return inFlight === 1 ? row : { ...row, target: '>= 6000 or ratio >= 0.15' };
}

/** Fills the store without the protocol, which is measured separately. */
async function load(file: string): Promise<void> {
  const storage = openStorage(file);
  const data = Buffer.from(JSON.stringify(DATA));
  for (let loaded = 0; loaded < STORED_EVENTS; loaded += EVENTS_PER_STREAM) {
    const events = Array.from({ length: EVENTS_PER_STREAM }, () => ({
      id: randomUUID(),
      type: 'Loaded',
      contentType: 'application/json' as const,
      data,
      metadata: Buffer.of(),
    }));
    void storage.append({
      stream: `load-${randomUUID()}`,
      expected: 'no_stream',
      events,
      deadlineMs: Number.POSITIVE_INFINITY,
    });
    if (loaded % 10_000 === 0) storage.flush();
  }
  storage.flush();
  storage.close();
}

async function reads(client: EventStoreDBClient): Promise<Row> {
  const startedMs = performance.now();
  let read = 0;
  for await (const _ of client.readAll({ maxCount: READ_EVENTS })) read += 1;
  const perSecond = read / ((performance.now() - startedMs) / 1000);
  return { name: 'read $all', value: perSecond, unit: 'events/s', target: '>= 25000' };
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
    process.stdout.write(`${name.padEnd(46)} ${figures}${against}${target ? `, target ${target}` : ''}\n`);
  }
}
