// The file of the event log: one process owns it, and concurrent appends share a commit.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { isDiskFull } from '@ledger/kernel/disk-full.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { StartError } from '../start-error.ts';
import {
  type AppendRequest,
  type AppendResult,
  append,
  headOfStream,
  lastPosition,
  openLog,
  type PageRequest,
  page,
  SCHEMA,
  type StoredEvent,
} from './log-tables.ts';
import { createTail } from './tail.ts';

export type Storage = ReturnType<typeof openStorage>;

type Pending = {
  request: AppendRequest;
  resolve: (result: AppendResult) => void;
  reject: (error: unknown) => void;
};

/** Pages have 4 KiB. An append waits at most for this many. */
const PAGES_AT_A_TIME = 256;

/** SQLITE_IOERR_FSYNC. */
const FAILED_SYNC = 1034;

/** Without an append, nobody knows whether the disk is still full. */
const FULL_FOR_MS = 60_000;

const OPENING = `
  pragma locking_mode = exclusive;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma cache_size = -16000;
  begin exclusive;
  ${SCHEMA}
  commit;
`;

/**
 * Opens the store; a new file is created with its first system event. Throws if another process has it open: SQLite
 * locks the file, and the lock disappears with its process. A read-only file can be read, and every append is rejected.
 * A disk that fails to sync is an error that nobody catches, and so ends the process.
 * Over 70 lines: its functions share the file, the appends that wait for it, and whether the disk is full.
 */
export function openStorage(file: string) {
  const { db, log, isNew } = openDatabase(file);
  const tail = createTail();
  const commits = new EventEmitter<{ commit: [] }>().setMaxListeners(0);
  let waiting: Pending[] = [];
  /** The last failure for lack of room, and its time by the monotonic clock; null once an append is written again. */
  let full: { error: Error; sinceMs: number } | null = null;

  /** Commits all the requests together. If it throws, nothing was written. */
  function transact(requests: readonly AppendRequest[]): AppendResult[] {
    db.exec('begin immediate');
    try {
      const written: StoredEvent[] = [];
      const results = requests.map((request) => append(log, request, written));
      db.exec('commit');
      tail.add(written);
      if (written.length > 0) full = null;
      return results;
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      throw error;
    }
  }

  function settle(group: readonly Pending[]): void {
    try {
      const results = transact(group.map(({ request }) => request));
      for (const [index, result] of results.entries()) {
        const error = group[index] && noRoomFor(group[index].request, result);
        if (error) group[index]?.reject(error);
        else group[index]?.resolve(result);
      }
    } catch (error) {
      if (hasFailedToSync(error)) throw new Error(FAILED_SYNC_TEXT, { cause: error });
      if (isDiskFull(error)) full = { error, sinceMs: performance.now() };
      // One append that does not fit on the disk must not fail the others: try each by itself.
      if (group.length > 1) for (const pending of group) settle([pending]);
      else group[0]?.reject(error);
    }
  }

  /**
   * The error of a full disk, for an append that expects a later revision than the stream has. It would never be stored: by
   * such an append a program asks whether there is room (`refusal` in packages/event-store).
   */
  function noRoomFor({ expected }: AppendRequest, result: AppendResult): Error | null {
    if (!full || performance.now() - full.sinceMs > FULL_FOR_MS || typeof expected !== 'bigint') return null;
    const isAhead = result.outcome === 'wrong-expected-version' && expected > result.currentRevision;
    return isAhead ? full.error : null;
  }

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    settle(group);
    commits.emit('commit');
  }

  if (isNew) transact([firstEpoch()]);

  return {
    /** Emits `commit` when there may be new events to read. */
    commits,
    page: (request: PageRequest): StoredEvent[] => tail.page(request) ?? page(log, request),
    /** The revision of the stream's last event, -1 if there is none. */
    head: (stream: string): number => headOfStream(log, stream),
    lastPosition: (): number => lastPosition(log),

    /** Resolves when the append is on disk or refused; rejects if the disk failed and nothing was written. */
    append(request: AppendRequest): Promise<AppendResult> {
      return new Promise((resolve, reject) => {
        // Appends that arrived while the last commit blocked the thread share the next one.
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ request, resolve, reject });
      });
    },

    /** Commits the waiting appends immediately. */
    flush,

    /** Copies what is committed to another file. Appends continue, and those until the end are in the copy. */
    copyTo: (copy: string): Promise<number> => backup(db, copy, { rate: PAGES_AT_A_TIME }),

    /** Closes the file; nothing may be called afterwards. */
    close: (): void => db.close(),
  };
}

const FAILED_SYNC_TEXT =
  'The disk of the event store could not confirm a write: only a new start shows what is on it';

/** After that, the disk may confirm the next write without having written this one: nobody gets an answer about it. */
const hasFailedToSync = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === FAILED_SYNC;

function openDatabase(file: string) {
  let db: DatabaseSync | undefined;
  try {
    const readOnly = existsSync(file) && !isWritable(file);
    db = new DatabaseSync(file, { readOnly });
    if (!readOnly) {
      db.exec(OPENING);
      writeAgain(db);
    }
    const log = openLog(db);
    return { db, log, isNew: lastPosition(log) === 0 };
  } catch (error) {
    db?.close();
    const message = reasonOf(error);
    const why = message === 'database is locked' ? 'it is in use by another event store' : message;
    throw new StartError(`Cannot open the event store ${file}: ${why}`, { cause: error });
  }
}

/**
 * Moves what is in SQLite's log of writes to the file. After a failed sync, the system may have that log in memory only, and
 * a repeated append would be answered as if it were on the disk. Throws if the disk does not confirm it now.
 */
function writeAgain(db: DatabaseSync): void {
  try {
    db.exec('pragma wal_checkpoint(truncate)');
  } catch (error) {
    // Events can be read nevertheless.
    if (!isDiskFull(error)) throw error;
  }
}

const isWritable = (file: string): boolean =>
  orElse(() => accessSync(file, constants.W_OK) === undefined, false);

/** $all is never empty in EventStoreDB: the node that creates the log writes its first epoch. */
function firstEpoch(): AppendRequest {
  const name = '$epoch-information';
  const data = Buffer.from(JSON.stringify({ epochNumber: 0, epochId: randomUUID() }));
  const contentType = 'application/json';
  const event = { id: randomUUID(), type: name, contentType, data, metadata: Buffer.of() } as const;
  return { stream: name, expected: 'no_stream', events: [event], deadlineMs: Number.POSITIVE_INFINITY };
}
