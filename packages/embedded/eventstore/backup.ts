// A copy of the log, made while others read and append, and sent to the caller as the bytes of an SQLite file.
import { once } from 'node:events';
import { createReadStream, rmSync } from 'node:fs';
import { rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, type Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import {
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServerWritableStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { orElse } from '@ledger/kernel/or-else.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { StartError, StoreAway } from '../start-error.ts';
import type { Storage } from './storage.ts';

const asIs = (bytes: Buffer): Buffer => bytes;

/** EventStoreDB has no such method: it is backed up with its own tools. */
export const backupService = {
  backup: {
    path: '/ledger.embedded.Backup/Backup',
    requestStream: false,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  } satisfies MethodDefinition<Buffer, Buffer>,
};

/** What a copy leaves free: a full disk would refuse appends while it is made. */
const spareBytes = 16 * 1024 * 1024;

/** The copy lies beside the log until it is sent, so the disk needs room for a second one. One is made at a time. */
export function createBackup(storage: Pick<Storage, 'copyTo'>, file: string) {
  const copy = `${file}.backup`;
  // A process that was killed while it sent one has left it, as large as the log. (A store may be on a read-only disk.)
  for (const leftover of [copy, `${copy}-journal`])
    orElse(() => rmSync(leftover, { force: true }), undefined);
  let isRunning = false;

  async function send(call: ServerWritableStream<Buffer, Buffer>): Promise<void> {
    const cancelled = new AbortController();
    call.on('cancelled', () => cancelled.abort());
    try {
      try {
        await rm(copy, { force: true });
        await assertRoom(file);
        await storage.copyTo(copy);
        for await (const bytes of createReadStream(copy))
          if (!call.write(bytes)) await once(call, 'drain', { signal: cancelled.signal });
      } finally {
        // After a fault the disk may be read-only. Thrown here, the error would end the process.
        await rm(copy, { force: true }).catch(() => {});
        // Before the caller hears of the end, and asks for the next one.
        isRunning = false;
      }
      call.end();
    } catch (error) {
      if (!cancelled.signal.aborted)
        call.emit('error', { code: status.INTERNAL, details: `The backup failed: ${reasonOf(error)}` });
    }
  }

  return (call: ServerWritableStream<Buffer, Buffer>): void => {
    if (isRunning) {
      call.emit('error', { code: status.ABORTED, details: 'Another backup is being made' });
      return;
    }
    isRunning = true;
    void send(call);
  };
}

async function assertRoom(file: string): Promise<void> {
  // A log in memory has no file.
  const [size, { bavail, bsize }] = await Promise.all([
    stat(file).then(
      (found) => found.size,
      () => 0,
    ),
    statfs(dirname(file)),
  ]);
  if (bavail * bsize >= size + spareBytes) return;
  const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000).toLocaleString('en');
  throw new StartError(
    `a copy of the log needs ${megabytes(size + spareBytes)} MB on its disk, of which ${megabytes(bavail * bsize)} MB are free`,
  );
}

/** The bytes of a backup of the embedded event store at `url`; the stream fails with a StartError that says why. */
export function readBackup(url: string): Readable {
  const [, user, password, address] =
    /^esdb:\/\/(?:([^/?@,:]+):([^/?@,]+)@)?([^/?@,]+)\/?\?.*\btls=false\b/i.exec(url) ?? [];
  if (address === undefined) throw new StartError(notEmbedded);
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  if (user !== undefined)
    metadata.set('authorization', `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  const call = client.makeServerStreamRequest(backupService.backup.path, asIs, asIs, Buffer.of(), metadata);
  const bytes = new PassThrough();
  // A pipeline would destroy it with the client's own error.
  call.on('error', (error: ServiceError) => {
    const reason = error.code === status.UNIMPLEMENTED ? notEmbedded : error.details || error.message;
    const isAway = error.code === status.UNAVAILABLE;
    bytes.destroy(isAway ? new StoreAway(away, { cause: error }) : new StartError(reason, { cause: error }));
  });
  bytes.once('close', () => {
    call.cancel();
    client.close();
  });
  call.pipe(bytes);
  return bytes;
}

/** Reads all of a copy of the log. Throws StartError if the disk has damaged a page of it. */
export function assertUndamaged(file: string): void {
  const url = pathToFileURL(file);
  // Otherwise SQLite would create files beside it.
  url.search = 'immutable=1';
  const copy = new DatabaseSync(url, { readOnly: true });
  try {
    const found: string = Object(copy.prepare('pragma quick_check(1)').get()).quick_check;
    if (found !== 'ok') throw new Error(found.split('\n').at(-1));
  } catch (error) {
    throw new StartError(
      `The file of the event store is damaged (${reasonOf(error)}), so a copy of it is no backup. Keep the last one, and see “The daily verification” in the documentation.`,
      { cause: error },
    );
  } finally {
    copy.close();
  }
}

const away = 'The event store does not answer, or has ended meanwhile: try again.';

const notEmbedded =
  'ESDB_URL is not the embedded event store: back up an EventStoreDB with its own tools, and its database as the documentation says';
