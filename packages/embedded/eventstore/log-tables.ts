// The event log as SQLite tables: decides and writes appends, and reads pages of events in order.
// An event is stored as the complete message that readers receive, so that reading only copies bytes.
import type { DatabaseSync } from 'node:sqlite';
import { encodeEvent } from './encode.ts';
import { bytesOfUuid, type ExpectedRevision, type ProposedEvent } from './wire.ts';

/** Events to append to one stream, all or none. */
export type AppendRequest = {
  stream: string;
  expected: ExpectedRevision;
  events: readonly ProposedEvent[];
  /** Milliseconds since 1970; an append not committed by then is refused. */
  deadlineMs: number;
};

/** `revision` is that of the stream's last event after the append, -1 if there is none. */
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

/** `from` is inclusive: a revision in `stream`, or without a stream a position in $all. */
export type PageRequest = {
  stream?: string;
  from: number;
  direction: 'forwards' | 'backwards';
  limit: number;
};

/** The maximum number of events in a page; with large events a page is shorter. */
export const PAGE_EVENTS = 256;
export const PAGE_BYTES = 1024 * 1024;

// Numbered streams keep the indexes small. They also keep new entries close together, since mostly new streams grow.
export const SCHEMA = `
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

export type Log = ReturnType<typeof openLog>;

/** The log in an open database, as the statements that it is read and written with. */
export function openLog(db: DatabaseSync) {
  const event = `
    select position, revision, name as stream, type, message
    from events join streams on streams.id = events.stream`;
  return {
    findStream: db.prepare('select id from streams where name = ?'),
    addStream: db.prepare('insert into streams (name) values (?)'),
    findHead: db.prepare('select max(revision) as revision from events where stream = ?'),
    findLast: db.prepare('select max(position) as position from events'),
    findById: db.prepare(
      'select position, revision from events where stream = ? and id = ? order by position desc limit 1',
    ),
    findByRevision: db.prepare(
      'select position, revision from events where stream = ? and revision = ? and id = ?',
    ),
    addEvent: db.prepare('insert into events values (?, ?, ?, ?, ?, ?)'),
    pageOfAll: {
      forwards: db.prepare(`${event} where position >= ? order by position limit ?`),
      backwards: db.prepare(`${event} where position <= ? order by position desc limit ?`),
    },
    pageOfStream: {
      forwards: db.prepare(`${event} where stream = ? and revision >= ? order by revision limit ?`),
      backwards: db.prepare(`${event} where stream = ? and revision <= ? order by revision desc limit ?`),
    },
  };
}

const numberOfStream = ({ findStream }: Log, name: string): number | null =>
  (findStream.get(name)?.id as number | undefined) ?? null;

const headOf = ({ findHead }: Log, stream: number | null): number =>
  (findHead.get(stream)?.revision as number | null) ?? -1;

/** The revision of the stream's last event, -1 if there is none. */
export const headOfStream = (log: Log, stream: string): number => headOf(log, numberOfStream(log, stream));

/** The position of the last event in $all, 0 if there is none. */
export const lastPosition = ({ findLast }: Log): number => (findLast.get()?.position as number | null) ?? 0;

/**
 * Decides and writes one append. A repeated append gets the same answer as the first. It counts as a repeat if the
 * events with these ids are at the expected revisions or, for "any" and "stream exists", anywhere in the stream. As in
 * EventStoreDB, an append at the head is never a repeat, and a partial repeat is a conflict. To be called inside a
 * transaction; adds the events to `written`, unless it is a repeat.
 */
export function append(log: Log, request: AppendRequest, written: StoredEvent[]): AppendResult {
  if (Date.now() > request.deadlineMs) return { outcome: 'deadline-exceeded' };
  const stream = numberOfStream(log, request.stream);
  const head = headOf(log, stream);
  const conflict = { outcome: 'wrong-expected-version', currentRevision: head } as const;
  if (request.expected === 'stream_exists' && head < 0) return conflict;
  const expectedHead = expectedHeadOf(request.expected);
  if (expectedHead !== undefined && expectedHead > head) return conflict;
  if (expectedHead !== head) {
    const firstRevision = expectedHead === undefined ? undefined : expectedHead + 1;
    const repeat = findRepeat(log, stream, request.events, firstRevision);
    if (typeof repeat === 'object') return { outcome: 'appended', ...repeat };
    if (repeat === 'in part' || expectedHead !== undefined) return conflict;
  }
  return { outcome: 'appended', ...write(log, stream, head, request, written) };
}

/** The head that an append requires; undefined if it accepts any. */
function expectedHeadOf(expected: ExpectedRevision): number | undefined {
  if (expected === 'no_stream') return -1;
  return typeof expected === 'bigint' ? Number(expected) : undefined;
}

type Place = { position: number; revision: number };

/** Where the last of these events already is; without `firstRevision` they may be anywhere in the stream. */
function findRepeat(
  { findById, findByRevision }: Log,
  stream: number | null,
  events: readonly ProposedEvent[],
  firstRevision: number | undefined,
): Place | 'new' | 'in part' {
  let last: Place | undefined;
  for (const [index, event] of events.entries()) {
    const id = bytesOfUuid(event.id);
    const found =
      firstRevision === undefined
        ? findById.get(stream, id)
        : findByRevision.get(stream, firstRevision + index, id);
    if (!found) return last ? 'in part' : 'new';
    last = found as Place;
  }
  return last ?? 'new';
}

function write(
  log: Log,
  known: number | null,
  head: number,
  request: AppendRequest,
  written: StoredEvent[],
): Place {
  let position = lastPosition(log);
  let revision = head;
  if (request.events.length === 0) return { position, revision };
  const { stream, events } = request;
  const number = known ?? Number(log.addStream.run(stream).lastInsertRowid);
  const created = new Date();
  for (const event of events) {
    position += 1;
    revision += 1;
    const { id, type } = event;
    const message = encodeEvent(event, { stream, revision, position, created });
    log.addEvent.run(position, number, revision, bytesOfUuid(id), type, message);
    written.push({ position, revision, stream, type, message });
  }
  return { position, revision };
}

/** The next events in order: at most `limit`, PAGE_EVENTS and about 1 MiB. An empty page means the end. */
export function page(log: Log, { stream, from, direction, limit }: PageRequest): StoredEvent[] {
  const count = Math.min(limit, PAGE_EVENTS);
  const rows =
    stream === undefined
      ? log.pageOfAll[direction].iterate(from, count)
      : log.pageOfStream[direction].iterate(numberOfStream(log, stream), from, count);
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
