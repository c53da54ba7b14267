/** Verifies an export without any store: that it is complete, and that every event in it is unchanged. */
import { linesOf } from '@ledger/kernel/file-lines.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import type { Witnesses } from '@ledger/transparency-log/note.ts';
import { is } from 'superstruct';
import { tryRead, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn, isChainedOnto } from '../../events/envelope.ts';
import { paymentStreamPrefix, readPaymentEvent } from '../../events/payment.ts';
import { leafOf } from '../../events/seals.ts';
import {
  checksumOf,
  EndLine,
  EventLine,
  type ExportRange,
  firstChecksum,
  HeadLine,
  LeafLine,
  LeavesLine,
  TreeLine,
  tail,
  tailLength,
} from '../export/lines.ts';
import { createLeafCheck } from './export-leaves.ts';
import { createTimeCheck, recordedMs } from './recorded-times.ts';
import type { EarlyEvents } from './resume.ts';

/** No event store accepts an event of more than a few megabytes. */
const maxLineBytes = 64 * 1024 * 1024;

type FileViolation = {
  /** Counted from 1, as in the file. */
  line: number;
  /** The event that the line is about; null where it names none. */
  stream: string | null;
  revision: number | null;
  /** A sentence without values of the event. */
  reason: string;
};

/**
 * Reads an export of `ledger export` up to the first violation, which is null when the export is whole. Needs as much
 * memory as the longest line. Throws the operating system's error when the file cannot be read.
 */
export async function verifyFile(
  path: string,
  trusted: readonly KeyTerm[] | null = null,
  witnesses: Witnesses | null = null,
) {
  const { state, totals, leaves, take } = createFileCheck(trusted, witnesses);
  const verdict = (violation: FileViolation | null) => ({ violation, ...totals, ...leaves.result() });
  for await (const { bytes, ended } of linesOf(path, maxLineBytes)) {
    const text = bytes.toString();
    const reason = ended ? take(bytes, text) : 'The file is cut off in this line';
    if (reason !== null) return verdict({ line: state.lines + 1, ...eventNamedIn(text), reason });
    state.lines += 1;
  }
  if (state.ended) return verdict(null);
  const { stream, revision } = state.last ?? { stream: null, revision: null };
  const reason = state.lines === 0 ? 'The file is empty' : 'The file is cut off after this line';
  return verdict({ line: state.lines || 1, stream, revision, reason });
}

/**
 * `take` returns why the line is not what must come next, or null when it is. Over 70 lines: one state machine over the
 * kinds of line, whose steps share their state.
 */
function createFileCheck(trusted: readonly KeyTerm[] | null, witnesses: Witnesses | null) {
  const state = {
    /** Valid lines so far. */
    lines: 0,
    ended: false,
    /** The event of the line before. */
    last: null as { stream: string; revision: number; hash: string } | null,
  };
  /** Up to the violation. */
  const totals = {
    events: 0,
    payments: 0,
    /** Whether the file has data in readable form, which nothing proves. */
    isOpened: false,
    /** Events that say they were recorded long before an earlier one of their payment. Only the log shows all. */
    early: { count: 0, first: '' } as EarlyEvents,
    /** The range that the file says it holds; null if it does not begin like an export. */
    range: null as ExportRange | null,
    /** The checksum of the last valid line. In a complete file it covers every byte, so two copies can be compared. */
    checksum: firstChecksum,
  };
  const leaves = createLeafCheck(() => totals.range, trusted, witnesses);
  /** When the last payment was requested: payments are in order. */
  let requested = { atMs: Number.NEGATIVE_INFINITY, stream: '' };
  let times = createTimeCheck(0, totals.early);

  function take(bytes: Buffer, text: string): string | null {
    if (state.ended) return 'Something follows the end of the export';
    const parsed = parse(text);
    if (!tail.test(text) || !parsed) return 'It is not a line of an export';
    const number = Reflect.get(parsed, 'line');
    if (typeof number === 'number' && number > state.lines + 1)
      return `Lines ${state.lines + 1} to ${number - 1} of the export are missing before it`;
    const checksum = checksumOf(totals.checksum, bytes.subarray(0, -tailLength));
    if (checksum !== Reflect.get(parsed, 'checksum') || number !== state.lines + 1)
      return 'It is not the line that was exported here';
    const reason = takeContent(parsed);
    if (reason === null) totals.checksum = checksum;
    return reason;
  }

  function takeContent(parsed: object): string | null {
    try {
      if (state.lines > 0) return takeNext(parsed);
      if (!is(parsed, HeadLine))
        return 'It does not say what was exported, in a form that this program knows';
      totals.range = parsed.export;
      return null;
    } catch (error) {
      // Thrown by superstruct for values that are nested too deep, or whose `toString` is not a function.
      if (error instanceof RangeError || error instanceof TypeError) return 'No export has such a line';
      throw error;
    }
  }

  function takeNext(parsed: object): string | null {
    if (is(parsed, EventLine)) return takeEvent(parsed);
    if (is(parsed, LeafLine)) return leaves.takeLeaf(parsed.leaf, parsed.proof);
    if (is(parsed, TreeLine)) return leaves.takeTree(parsed.tree);
    if (is(parsed, LeavesLine)) return leaves.takeLeaves(parsed.leaves);
    if (!is(parsed, EndLine)) return 'It is neither an event nor the end of the export';
    const { events, payments } = parsed.end;
    if (events !== totals.events || payments !== totals.payments)
      return `It counts ${events} events of ${payments} payments; there are ${totals.events} of ${totals.payments}`;
    state.ended = true;
    return leaves.end();
  }

  function takeEvent(event: EventLine): string | null {
    const { stream, revision } = event;
    const previous = state.last?.stream === stream ? state.last : null;
    if (!previous && !stream.startsWith(paymentStreamPrefix)) return 'Its stream is not that of a payment';
    const expected = previous ? previous.revision + 1 : 0;
    if (revision !== expected) return `Revision ${expected} of the stream should come here`;
    if (!isChainedOnto(event, previous?.hash ?? genesisHash))
      return 'The chain is broken: it, or the event before it, is not what was written';
    const read = tryRead(readPaymentEvent, event);
    if (read instanceof UnreadableEvent) return `It cannot be read: ${read.message}`;
    if (!previous) {
      const atMs = Date.parse(read.data.at);
      const isLater = atMs > requested.atMs || (atMs === requested.atMs && stream > requested.stream);
      if (!isLater) return 'The payment is out of order: it comes before the one above, or twice';
      requested = { atMs, stream };
      times = createTimeCheck(0, totals.early);
      totals.payments += 1;
    }
    times.take(event, { stream, revision }, recordedMs(event) || 0);
    totals.early = times.found();
    state.last = { stream, revision, hash: hashIn(event) };
    totals.events += 1;
    totals.isOpened ||= event.opened !== undefined;
    return leaves.takeEvent(stream, revision, leafOf({ ...event, streamName: stream }), event.proof);
  }

  return { state, totals, leaves, take };
}

/**
 * Null if this program would have written the line differently. A field may not appear twice, because other programs
 * may read the first one.
 */
function parse(text: string): object | null {
  return orElse(() => {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && JSON.stringify(value) === text ? value : null;
  }, null);
}

/** The event that a line is about, even where the rest of it cannot be read. */
function eventNamedIn(text: string): Pick<FileViolation, 'stream' | 'revision'> {
  const [, stream, revision] =
    /^\{"line":\d+,"stream":"([\w-]{1,200})","revision":(\d{1,15}),/.exec(text) ?? [];
  return stream === undefined ? { stream: null, revision: null } : { stream, revision: Number(revision) };
}
