// Shared by the tests of the embedded event store: a store in a temporary folder, its client, events, waiting.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type EventData, EventStoreDBClient, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';
import { startEventStore } from '../../../packages/embedded/eventstore/server.ts';

/** With credentials the client uses Append instead of BatchAppend. */
export const UNARY = { credentials: { username: 'admin', password: 'changeit' } };

export async function temporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'eventstore-test-'));
  // A child that gave up root's rights works in it, too.
  await chmod(folder, 0o777);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export function connect(port: number): EventStoreDBClient {
  // Dozens of tests share a store; ten seconds, what the client waits by itself, are too few on a busy machine.
  return EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false&defaultDeadline=60000`);
}

export type Store = { client: EventStoreDBClient; port: number; close(): Promise<void> };

/** A store in this process, on a new file. */
export async function withStore(): Promise<Store> {
  const { folder, remove } = await temporaryFolder();
  const server = await startEventStore({ file: join(folder, 'events.db'), host: '127.0.0.1', port: 0 });
  const client = connect(server.port);
  return {
    client,
    port: server.port,
    async close() {
      await client.dispose();
      await server.close();
      await remove();
    },
  };
}

export type StoreProcess = {
  process: ChildProcessByStdio<null, Readable, Readable>;
  port: number;
  /** Sends the signal and resolves when the process has ended. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/**
 * A store in its own process; `blocks` limits the size of the files it writes, in the shell's blocks. `imports` is a program
 * that runs in it first.
 */
export async function spawnStore(
  file: string,
  {
    blocks,
    unprivileged = false,
    imports = '',
  }: { blocks?: number; unprivileged?: boolean; imports?: string } = {},
): Promise<StoreProcess> {
  const child = new URL('child.ts', import.meta.url).pathname;
  const { NODE_OPTIONS = '' } = process.env;
  const first = imports && `--import=data:text/javascript,${encodeURIComponent(imports)}`;
  const env = {
    ...process.env,
    UNPRIVILEGED: unprivileged ? '1' : '',
    NODE_OPTIONS: `${NODE_OPTIONS} ${first}`,
  };
  const limit = blocks === undefined ? '' : `ulimit -f ${blocks};`;
  const server = spawn('sh', ['-c', `${limit} exec "$0" "$@"`, process.execPath, child, file], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(server, 'exit');
  const [said] = await Promise.race([once(server.stdout, 'data'), once(server.stderr, 'data')]);
  const port = Number(String(said));
  if (!port) throw new Error(String(said));
  return {
    process: server,
    port,
    async stop(signal) {
      server.kill(signal);
      await exited;
    },
  };
}

export const anEvent = (data = { n: 1 }, type = 'tested'): EventData => jsonEvent({ type, data });

export const someEvents = (count: number, type = 'tested'): EventData[] =>
  Array.from({ length: count }, (_, n) => anEvent({ n }, type));

export const aStream = (prefix = 'stream'): string => `${prefix}-${randomUUID()}`;

/** The text of a binary event; undefined without an event. */
export const bytesOf = (resolved: ResolvedEvent | undefined): Uint8Array =>
  Uint8Array.from((resolved?.event?.data as Uint8Array | undefined) ?? []);

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
