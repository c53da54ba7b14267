// An append whose events are still arriving, and the reasons to refuse it before it reaches the log.
import { status } from '@grpc/grpc-js';
import { has, type Message, numberIn } from '@ledger/kernel/read-protobuf.ts';
import type { AppendRequest } from './log-tables.ts';
import { type ExpectedRevision, type ProposedEvent, RequestFault } from './wire.ts';

export type Draft = AppendRequest & { events: ProposedEvent[]; sizeBytes: number };

/** EventStoreDB's own default, for all events of one append together. */
export const MAX_APPEND_BYTES = 1024 * 1024;

/** So that one append keeps the other callers waiting for less than a second. */
const MAX_APPEND_EVENTS = 10_000;

export const TOO_LATE = 'The deadline passed before the append was committed';
export const NO_OPTIONS = 'An append must begin with its options';

export class AppendTooLarge extends RequestFault {
  constructor() {
    super(`An append holds at most ${MAX_APPEND_BYTES} bytes`, status.INVALID_ARGUMENT, {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': String(MAX_APPEND_BYTES),
    });
  }
}

/** Throws RequestFault for a metadata stream, which could truncate or hide events. */
export function openDraft(stream: string, expected: ExpectedRevision, deadlineMs: number): Draft {
  if (stream.startsWith('$$')) {
    const why =
      'Stream metadata is not offered by the embedded event store: a ledger truncates and hides nothing';
    throw new RequestFault(why, status.UNIMPLEMENTED);
  }
  return { stream, expected, deadlineMs, events: [], sizeBytes: 0 };
}

/** Throws AppendTooLarge, and RequestFault for too many events. */
export function addEvent(draft: Draft, event: ProposedEvent): void {
  // Counted as EventStoreDB counts: the type in UTF-16, ids not at all.
  draft.sizeBytes += event.type.length * 2 + event.data.length + event.metadata.length;
  if (draft.sizeBytes > MAX_APPEND_BYTES) throw new AppendTooLarge();
  if (draft.events.length === MAX_APPEND_EVENTS)
    throw new RequestFault(`An append holds at most ${MAX_APPEND_EVENTS} events`);
  draft.events.push(event);
}

/** The expected revision in the options of either kind of append. */
export function expectedRevisionOf(options: Message): ExpectedRevision {
  if (has(options, 4)) return 'any';
  if (has(options, 3)) return 'no_stream';
  if (has(options, 5)) return 'stream_exists';
  return BigInt(numberIn(options, 2));
}
