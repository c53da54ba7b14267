// The event log in one SQLite file: group commit, the rules of expected revisions and idempotency, paged reads.
// An event is kept as the very message a reader gets, so that reading is copying bytes.

import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { bytesOfUuid, type ExpectedRevision, encodeEvent, type ProposedEvent } from './wire.ts';

/** What a client asks to have appended to one stream, all or nothing. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  events: readonly ProposedEvent[];
  /** Milliseconds since 1970; not committed by then, the append is refused. */
  deadlineMs: number;
};

/** `revision` is that of the stream's last event after the append, -1 when the stream is still empty. */
export type AppendResult =
  | { outcome: 'appended'; revision: number; position: number }
  | { outcome: 'wrong-expected-version'; currentRevision: number }
  | { outcome: 'deadline-exceeded' };

/** An event as stored; `message` is a complete ReadResp. */
export type StoredEvent = {
  position: number;
  revision: number;
  stream: string;
  type: string;
  message: Uint8Array;
};

/** Where a page starts (included) and which way it goes; without `stream` it is of $all. */
export type PageRequest = {
  stream?: string;
  from: number;
  direction: 'forwards' | 'backwards';
  limit: number;
};

export type Storage = ReturnType<typeof openStorage>;

type Pending = {
  request: AppendRequest;
  resolve: (result: AppendResult) => void;
  reject: (error: unknown) => void;
};

/** The most events a page holds. */
export const PAGE_EVENTS = 256;
const PAGE_BYTES = 1024 * 1024;

const SCHEMA = `
  create table if not exists streams (id integer primary key, name text not null unique);
  create table if not exists events (
    position integer primary key,
    stream integer not null references streams,
    revision integer not null,
    id blob not null,
    type text not null,
    message blob not null
  );
  create unique index if not exists events_by_revision on events (stream, revision);
  create index if not exists events_by_id on events (stream, id);
`;

/**
 * Opens the store, creating it with its first system event when the file is new.
 * Throws when another process has the file: the lock is SQLite's own on the file and dies with its holder.
 */
export function openStorage(file: string) {
  const db = openExclusively(file);
  const events = new EventEmitter<{ committed: [] }>().setMaxListeners(0);
  const log = prepareLog(db);
  if (log.lastPosition() === 0) log.append(firstEpoch());
  let waiting: Pending[] = [];

  /** All or nothing: the results stand once this returns, and none of it happened when it throws. */
  function transact(group: readonly Pending[]): AppendResult[] {
    db.exec('begin immediate');
    try {
      const results = group.map(({ request }) => log.append(request));
      db.exec('commit');
      return results;
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      throw error;
    }
  }

  function settle(group: readonly Pending[]): void {
    let results: AppendResult[];
    try {
      results = transact(group);
    } catch (error) {
      // One append too big for the disk must not fail its neighbours: each is tried by itself.
      if (group.length > 1) for (const pending of group) settle([pending]);
      else group[0]?.reject(error);
      return;
    }
    for (const [index, pending] of group.entries()) {
      const result = results[index];
      if (result) pending.resolve(result);
    }
  }

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    settle(group);
    events.emit('committed');
  }

  return {
    events,

    /** Resolves once the append is on disk or refused; rejects when the disk failed and nothing was written. */
    append(request: AppendRequest): Promise<AppendResult> {
      return new Promise((resolve, reject) => {
        // Everything that came in while the last commit held the thread shares the next one.
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ request, resolve, reject });
      });
    },

    /** The next events in order, at most `limit` and about a mebibyte; an empty page is the end. */
    page: log.page,

    /** The revision of the stream's last event, -1 when there is none. */
    head: log.head,

    /** The position of the last event in $all. */
    lastPosition: log.lastPosition,

    /** Commits at once what waits for the next turn. */
    flush,

    /** Lets go of the file; nothing may be called after. */
    close: (): void => db.close(),
  };
}

function openExclusively(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    db.exec(`
      pragma locking_mode = exclusive;
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma cache_size = -32000;
      begin exclusive;
      ${SCHEMA}
      commit;
    `);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && /database is locked/.test(error.message)) {
      throw new Error(`${file} is in use by another event store; stop that one first`, { cause: error });
    }
    throw error;
  }
}

/** $all is never empty in EventStoreDB: the node that starts a log writes its first epoch into it. */
function firstEpoch(): AppendRequest {
  const data = Buffer.from(JSON.stringify({ epochNumber: 0, epochId: randomUUID() }));
  const event = {
    id: randomUUID(),
    type: '$epoch-information',
    contentType: 'application/json',
    data,
    metadata: Buffer.of(),
  };
  return {
    stream: '$epoch-information',
    expected: 'no_stream',
    events: [event],
    deadlineMs: Number.POSITIVE_INFINITY,
  };
}

/** The statements on the log, to be run inside a transaction of the caller's. */
function prepareLog(db: DatabaseSync) {
  const findStream = db.prepare('select id from streams where name = ?');
  const addStream = db.prepare('insert into streams (name) values (?)');
  const findHead = db.prepare('select max(revision) as revision from events where stream = ?');
  const findLast = db.prepare('select max(position) as position from events');
  const findById = db.prepare('select max(revision) as revision from events where stream = ? and id = ?');
  const findAt = db.prepare('select position, id from events where stream = ? and revision = ?');
  const insert = db.prepare('insert into events values (?, ?, ?, ?, ?, ?)');

  const streamId = (name: string): number | undefined => numberOf(findStream.get(name)?.id);
  const headOf = (stream: number | undefined): number =>
    stream === undefined ? -1 : (numberOf(findHead.get(stream)?.revision) ?? -1);
  const lastPosition = (): number => numberOf(findLast.get()?.position) ?? 0;
  const positionAt = (stream: number | undefined, revision: number): number =>
    numberOf(findAt.get(stream ?? null, revision)?.position) ?? lastPosition();

  /** The last revision these very events already have in the stream: all of them, none (undefined) or some (-1). */
  function revisionOfRepeat(stream: number, expected: ExpectedRevision, proposed: readonly ProposedEvent[]) {
    const anywhere = expected === 'any' || expected === 'stream_exists';
    const first = expected === 'no_stream' ? 0 : anywhere ? 0 : Number(expected) + 1;
    const found = proposed.map(({ id }, index) => {
      const bytes = bytesOfUuid(id);
      if (anywhere) return numberOf(findById.get(stream, bytes)?.revision);
      const there = findAt.get(stream, first + index)?.id;
      return there instanceof Uint8Array && bytes.equals(there) ? first + index : undefined;
    });
    if (found[0] === undefined) return undefined;
    return found.includes(undefined) ? -1 : found.at(-1);
  }

  function append({ stream: name, expected, events: proposed, deadlineMs }: AppendRequest): AppendResult {
    if (Date.now() > deadlineMs) return { outcome: 'deadline-exceeded' };
    const known = streamId(name);
    const head = headOf(known);
    const wrong: AppendResult = { outcome: 'wrong-expected-version', currentRevision: head };
    if (expected === 'stream_exists' && head < 0) return wrong;
    const expectedHead =
      expected === 'no_stream' ? -1 : typeof expected === 'bigint' ? Number(expected) : undefined;
    if (expectedHead !== undefined && expectedHead > head) return wrong;
    if (expectedHead !== head && known !== undefined) {
      const repeated = revisionOfRepeat(known, expected, proposed);
      if (repeated === -1) return wrong;
      if (repeated !== undefined) {
        return { outcome: 'appended', revision: repeated, position: positionAt(known, repeated) };
      }
      if (expectedHead !== undefined) return wrong;
    }
    return write(name, known, head, proposed);
  }

  function write(
    name: string,
    known: number | undefined,
    head: number,
    proposed: readonly ProposedEvent[],
  ): AppendResult {
    let position = lastPosition();
    let revision = head;
    if (proposed.length > 0) {
      const stream = known ?? Number(addStream.run(name).lastInsertRowid);
      const created = new Date();
      for (const event of proposed) {
        position += 1;
        revision += 1;
        const message = encodeEvent(event, { stream: name, revision, position, created });
        insert.run(position, stream, revision, bytesOfUuid(event.id), event.type, message);
      }
    }
    return { outcome: 'appended', revision, position };
  }

  const select =
    'select position, revision, name as stream, type, message from events join streams on streams.id = stream';
  const pages = {
    all: {
      forwards: db.prepare(`${select} where position >= ? order by position limit ?`),
      backwards: db.prepare(`${select} where position <= ? order by position desc limit ?`),
    },
    stream: {
      forwards: db.prepare(`${select} where stream = ? and revision >= ? order by revision limit ?`),
      backwards: db.prepare(`${select} where stream = ? and revision <= ? order by revision desc limit ?`),
    },
  };

  function page({ stream: name, from, direction, limit }: PageRequest): StoredEvent[] {
    const count = Math.min(limit, PAGE_EVENTS);
    const rows =
      name === undefined
        ? pages.all[direction].iterate(from, count)
        : pages.stream[direction].iterate(streamId(name) ?? null, from, count);
    const found: StoredEvent[] = [];
    let bytes = 0;
    for (const row of rows) {
      const event = row as StoredEvent;
      found.push(event);
      bytes += event.message.length;
      if (bytes >= PAGE_BYTES) break;
    }
    return found;
  }

  return { append, page, head: (name: string): number => headOf(streamId(name)), lastPosition };
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
