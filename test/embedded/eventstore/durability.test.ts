// Durability: kill -9, a full disk, a read-only file, a second server, an orderly shutdown.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  type AppendExpectedRevision,
  type AppendResult,
  binaryEvent,
  type EventStoreDBClient,
  NO_STREAM,
} from '@eventstore/db-client';
import ava, { type ExecutionContext } from 'ava';
import { assertUndamaged, readBackup } from '../../../packages/embedded/eventstore/backup.ts';
import { startEventStore } from '../../../packages/embedded/eventstore/server.ts';
import { StartError, StoreAway } from '../../../packages/embedded/start-error.ts';
import { exitCodeOf } from '../../../src/cli/failure-text.ts';
import {
  anEvent,
  aStream,
  collect,
  connect,
  type StoreProcess,
  someEvents,
  spawnStore,
  temporaryFolder,
} from './harness.ts';

// In series: the client keeps its pending appends for the whole process, and an error on one connection rejects them all.
const test = ava.serial;

async function newFile(t: ExecutionContext): Promise<string> {
  const { folder, remove } = await temporaryFolder();
  t.teardown(remove);
  return join(folder, 'events.db');
}

async function withClient<T>(port: number, use: (client: EventStoreDBClient) => Promise<T>): Promise<T> {
  const client = connect(port);
  try {
    return await use(client);
  } finally {
    await client.dispose();
  }
}

/**
 * Appends three events at a time to `lanes` streams at once until a failure; returns each last acknowledged revision.
 * Calls `onEnough` when that many appends, and one to each stream, are acknowledged.
 */
async function appendUntilFailure(
  client: EventStoreDBClient,
  lanes: number,
  { enough = lanes, onEnough = () => {} }: { enough?: number; onEnough?: () => void } = {},
): Promise<Map<string, bigint>> {
  const acknowledged = new Map<string, bigint>();
  let appends = 0;
  let isEnough = false;
  const lane = async (stream: string) => {
    let expectedRevision: AppendExpectedRevision = NO_STREAM;
    for (;;) {
      const appended: AppendResult = await client.appendToStream(stream, someEvents(3), { expectedRevision });
      expectedRevision = appended.nextExpectedRevision;
      acknowledged.set(stream, expectedRevision);
      appends += 1;
      if (isEnough || appends < enough || acknowledged.size < lanes) continue;
      isEnough = true;
      onEnough();
    }
  };
  await Promise.allSettled(Array.from({ length: lanes }, (_, n) => lane(aStream(`lane-${n}`))));
  return acknowledged;
}

async function everythingAcknowledgedIsThere(
  t: ExecutionContext,
  client: EventStoreDBClient,
  acknowledged: Map<string, bigint>,
): Promise<void> {
  for (const [stream, last] of acknowledged) {
    const events = await collect(client.readStream(stream));
    const revisions = events.map(({ event }) => event?.revision);
    t.deepEqual(
      revisions,
      Array.from(events, (_, n) => BigInt(n)),
      'no gap',
    );
    t.is(new Set(events.map(({ event }) => event?.id)).size, events.length, 'each once');
    t.is(events.length % 3, 0, 'appends whole');
    // At most the append that was under way is there beyond what was acknowledged.
    t.true(events.length === Number(last) + 1 || events.length === Number(last) + 4);
  }
  const positions = (await collect(client.readAll())).map(({ event }) => event?.position.commit);
  t.deepEqual(
    positions,
    Array.from(positions, (_, n) => BigInt(n + 1)),
  );
}

test('kill -9 during appends loses no acknowledged event', async (t) => {
  const file = await newFile(t);
  const acknowledged = new Map<string, bigint>();
  for (let round = 0; round < 3; round += 1) {
    const store = await spawnStore(file);
    await withClient(store.port, async (client) => {
      const kill = { enough: 50 + round * 50, onEnough: () => void store.stop('SIGKILL') };
      for (const [stream, last] of await appendUntilFailure(client, 16, kill)) acknowledged.set(stream, last);
    });
  }
  t.true(acknowledged.size >= 16);
  const store = await spawnStore(file);
  await withClient(store.port, (client) => everythingAcknowledgedIsThere(t, client, acknowledged));
  await store.stop('SIGTERM');
});

test('on a full disk appends fail, and reads continue', async (t) => {
  const file = await newFile(t);
  // What the file may grow to stands for the disk: at the limit a write fails, as root, too.
  const full = await spawnStore(file, { blocks: 1_000 });
  const acknowledged = await withClient(full.port, async (client) => {
    const before = await appendUntilFailure(client, 4);
    t.true(before.size > 0);
    const error = await t.throwsAsync(client.appendToStream(aStream(), someEvents(200)));
    t.regex(error?.message ?? '', /disk|full/);
    await everythingAcknowledgedIsThere(t, client, before);
    return before;
  });
  await full.stop('SIGTERM');
  const roomy = await spawnStore(file);
  await withClient(roomy.port, async (client) => {
    await everythingAcknowledgedIsThere(t, client, acknowledged);
    t.true((await client.appendToStream(aStream(), anEvent())).success);
  });
  await roomy.stop('SIGTERM');
});

test('a store that starts on a full disk, with writes that are not yet in its file, can be read', async (t) => {
  const file = await newFile(t);
  const stream = aStream();
  const first = await spawnStore(file);
  await withClient(first.port, (client) =>
    client.appendToStream(stream, someEvents(2_000), { expectedRevision: NO_STREAM }),
  );
  await first.stop('SIGKILL');
  const full = await spawnStore(file, { blocks: 20 });
  await withClient(full.port, async (client) => {
    t.is((await collect(client.readStream(stream))).length, 2_000);
    await t.throwsAsync(client.appendToStream(stream, anEvent(), { expectedRevision: 1_999n }));
  });
  await full.stop('SIGKILL');
  const next = await spawnStore(file);
  await withClient(next.port, (client) =>
    client.appendToStream(stream, anEvent(), { expectedRevision: 1_999n }),
  );
  await next.stop('SIGTERM');
});

test('a store whose disk does not confirm a write ends, and starts once its disk confirms everything again', async (t) => {
  const file = await newFile(t);
  const fault = `${file}.does-not-sync`;
  // What was to be written is in the memory of the system, where the next start finds it.
  const imports = `
    import { existsSync } from 'node:fs';
    import { DatabaseSync } from 'node:sqlite';
    const { exec } = DatabaseSync.prototype;
    DatabaseSync.prototype.exec = function (sql) {
      const fails = existsSync(${JSON.stringify(fault)}) && /^(commit|pragma wal_checkpoint.*)$/.test(sql);
      if (!fails || sql === 'commit') exec.call(this, sql);
      if (fails) throw Object.assign(new Error('disk I/O error'), { errcode: 1034 });
    };`;
  const server = await spawnStore(file, { imports });
  const stream = aStream();
  await withClient(server.port, async (client) => {
    await client.appendToStream(stream, anEvent(), { expectedRevision: NO_STREAM });
    const said = text(server.process.stderr);
    const exited = once(server.process, 'exit');
    await writeFile(fault, '');
    await t.throwsAsync(client.appendToStream(stream, anEvent(), { expectedRevision: 0n }), {
      message: /UNAVAILABLE|CANCELLED|closed|dropped/i,
    });
    t.not((await exited)[0], 0);
    t.regex(await said, /could not confirm a write/);
  });
  await t.throwsAsync(spawnStore(file, { imports }), {
    message: /Cannot open the event store .*: disk I.O error/,
  });
  await rm(fault);
  const next = await spawnStore(file, { imports });
  t.is((await stat(`${file}-wal`)).size, 0, 'all of it is in the file');
  await withClient(next.port, async (client) => {
    t.is((await collect(client.readStream(stream))).length, 2);
    await client.appendToStream(stream, anEvent(), { expectedRevision: 1n });
  });
  await next.stop('SIGTERM');
});

test('a read-only file can be read, and appends fail', async (t) => {
  const file = await newFile(t);
  const stream = aStream();
  const writable = await spawnStore(file);
  await withClient(writable.port, (client) => client.appendToStream(stream, someEvents(3)));
  await writable.stop('SIGTERM');
  await chmod(file, 0o444);
  const store = await spawnStore(file, { unprivileged: true });
  await withClient(store.port, async (client) => {
    await t.throwsAsync(client.appendToStream(stream, anEvent()), { message: /readonly database/ });
    t.is((await collect(client.readStream(stream))).length, 3);
  });
  await store.stop('SIGTERM');
});

test('what a kill -9 during a backup left is removed at the next start', async (t) => {
  const file = await newFile(t);
  const leftovers = [`${file}.backup`, `${file}.backup-journal`];
  for (const leftover of leftovers) await writeFile(leftover, 'half a copy');
  await (await startEventStore({ file, host: '127.0.0.1', port: 0 })).close();
  for (const leftover of leftovers) t.false(existsSync(leftover), leftover);
});

test('a backup whose leftover cannot be removed fails, and the store goes on', async (t) => {
  const file = await newFile(t);
  // As on a disk that has become read-only: it cannot be removed as a file.
  await mkdir(`${file}.backup`);
  const store = await spawnStore(file);
  const url = `esdb://127.0.0.1:${store.port}?tls=false`;
  for (const _ of [1, 2])
    await t.throwsAsync(text(readBackup(url)), { message: /^The backup failed: Path is a directory/ });
  await withClient(store.port, (client) => client.appendToStream(aStream(), anEvent()));
  await store.stop('SIGTERM');
});

test('a backup of a store that has ended can be tried again', async (t) => {
  const file = await newFile(t);
  const store = await spawnStore(file);
  await store.stop('SIGKILL');
  const error = await t.throwsAsync(text(readBackup(`esdb://127.0.0.1:${store.port}?tls=false`)), {
    instanceOf: StoreAway,
    message: /^The event store does not answer/,
  });
  t.is(exitCodeOf(error), 75);
});

test('a copy that has a damaged page, as the file of the log has it then, is no backup', async (t) => {
  const file = await newFile(t);
  const store = await spawnStore(file);
  await withClient(store.port, (client) => client.appendToStream(aStream(), [anEvent(), anEvent()]));
  const copy = `${file}.copy`;
  await writeFile(copy, readBackup(`esdb://127.0.0.1:${store.port}?tls=false`));
  await store.stop('SIGTERM');
  assertUndamaged(copy);
  t.deepEqual([existsSync(`${copy}-wal`), existsSync(`${copy}-shm`)], [false, false]);
  const bytes = await readFile(copy);
  const pageBytes = bytes.readUInt16BE(16);
  const leaf = 13;
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, number) => number * pageBytes);
  const damaged = pages.findLast((at) => bytes[at] === leaf) ?? 0;
  await writeFile(copy, bytes.fill(7, damaged, damaged + 8));
  t.throws(() => assertUndamaged(copy), {
    instanceOf: StartError,
    message: /^The file of the event store is damaged \(.*page.*\), so a copy of it is no backup\./,
  });
  await writeFile(copy, 'Not SQLite at all, whatever its size may be');
  t.throws(() => assertUndamaged(copy), {
    instanceOf: StartError,
    message: /damaged \(file is not a database\)/,
  });
});

test('a backup that would fill the disk is refused, so that appends go on', async (t) => {
  const { folder, remove } = await temporaryFolder();
  try {
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]);
  } catch {
    t.log('no disk can be mounted here');
    return t.pass();
  }
  const { port, close } = await startEventStore({
    file: join(folder, 'events.db'),
    host: '127.0.0.1',
    port: 0,
  });
  try {
    await t.throwsAsync(text(readBackup(`esdb://127.0.0.1:${port}?tls=false`)), {
      instanceOf: StartError,
      message: /^The backup failed: a copy of the log needs \d\d MB on its disk, of which 1\d MB are free$/,
    });
    await withClient(port, (client) => client.appendToStream(aStream(), anEvent()));
  } finally {
    await close();
    await promisify(execFile)('umount', [folder]);
    await remove();
  }
});

test('a second server on the same file reports it and leaves the first alone', async (t) => {
  const file = await newFile(t);
  const first = await spawnStore(file);
  const inUse = { message: /events\.db: it is in use by another event store/ };
  await t.throwsAsync(spawnStore(file), inUse);
  await t.throwsAsync(startEventStore({ file, host: '127.0.0.1', port: 0 }), inUse);
  await withClient(first.port, async (client) =>
    t.true((await client.appendToStream(aStream(), anEvent())).success),
  );
  await first.stop('SIGKILL');
  const next = await spawnStore(file);
  await next.stop('SIGTERM');
});

test('a port in use is an error, and the file is released', async (t) => {
  const file = await newFile(t);
  const store = await spawnStore(`${file}-other`);
  await t.throwsAsync(startEventStore({ file, host: '127.0.0.1', port: store.port }), {
    message: /EADDRINUSE/,
  });
  await store.stop('SIGTERM');
  const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
  await server.close();
});

test('an address of IPv6 is listened on', async (t) => {
  const hasIPv6 = Object.values(networkInterfaces()).some((each) =>
    each?.some(({ address }) => address === '::1'),
  );
  if (!hasIPv6) return t.pass();
  const file = await newFile(t);
  const { port, close } = await startEventStore({ file, host: '::1', port: 0 });
  t.true(port > 0);
  await close();
});

test('a file that is not a database is an error', async (t) => {
  const file = await newFile(t);
  await writeFile(file, 'x'.repeat(10_000));
  await t.throwsAsync(startEventStore({ file, host: '127.0.0.1', port: 0 }), {
    message: /events\.db: .*not a database/,
  });
  await t.throwsAsync(startEventStore({ file: join(file, 'below'), host: '127.0.0.1', port: 0 }), {
    message: /unable to open/,
  });
});

test('a file whose pages are damaged is an error that names it', async (t) => {
  const file = await newFile(t);
  const store = await startEventStore({ file, host: '127.0.0.1', port: 0 });
  await store.close();
  const [bytes, pageBytes] = [await readFile(file), 4_096];
  await writeFile(file, bytes.fill('x', pageBytes));
  await t.throwsAsync(startEventStore({ file, host: '127.0.0.1', port: 0 }), {
    instanceOf: StartError,
    message: `Cannot open the event store ${file}: database disk image is malformed`,
  });
});

test('an orderly shutdown answers every append and ends subscriptions as cancelled', async (t) => {
  const file = await newFile(t);
  const store = await spawnStore(file);
  const acknowledged = await withClient(store.port, async (client) => {
    const subscription = client.subscribeToAll();
    const ended = t.throwsAsync<Error & { type?: string }>(collect(subscription));
    const last = await appendUntilFailure(client, 16, { onEnough: () => void store.stop('SIGTERM') });
    t.is((await ended)?.type, 'cancelled');
    return last;
  });
  t.is(acknowledged.size, 16);
  const again = await spawnStore(file);
  await withClient(again.port, (client) => everythingAcknowledgedIsThere(t, client, acknowledged));
  await again.stop('SIGTERM');
});

test('a subscriber that does not read costs the server one page of memory', async (t) => {
  const file = await newFile(t);
  const store = await spawnStore(file);
  await withClient(store.port, async (client) => {
    const stream = aStream();
    const megabyte = () => binaryEvent({ type: 'large', data: new Uint8Array(1_000_000) });
    const subscribers = Array.from({ length: 6 }, () => client.subscribeToStream(stream));
    await Promise.all(subscribers.map((subscriber) => once(subscriber, 'confirmation')));
    for (let n = 0; n < 10; n += 1) await client.appendToStream(stream, megabyte());
    const before = await residentMebibytes(store);
    for (let n = 0; n < 40; n += 1) await client.appendToStream(stream, megabyte());
    const grown = (await residentMebibytes(store)) - before;

    t.true(grown < 120, `grew by ${grown} MiB, where buffering would take 240`);
    await Promise.all(subscribers.map((subscriber) => subscriber.unsubscribe()));
  });
  await store.stop('SIGTERM');
});

async function residentMebibytes({ process: { pid } }: StoreProcess): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
