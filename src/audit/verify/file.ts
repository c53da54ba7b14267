/** Checks an export without any store: whether it is whole, and every event in it as it was written. */
import { createReadStream } from 'node:fs';
import { is } from 'superstruct';
import { readPaymentEvent, UnreadableEvent } from '../../events/codec.ts';
import { genesisHash, hashIn, isChainedOnto } from '../../events/envelope.ts';
import { type PaymentEvent, paymentStreamPrefix } from '../../events/payment.ts';
import {
  checksumOf,
  EndLine,
  EventLine,
  type ExportRange,
  firstChecksum,
  HeadLine,
  hasTail,
  tailLength,
} from '../export/lines.ts';

export type FileFault = {
  /** Counted from 1, as the file has them. */
  line: number;
  /** The event that the line is about, or says it is; null where it names none. */
  stream: string | null;
  revision: number | null;
  /** A sentence without values of the event. */
  reason: string;
};

export type FileVerdict = {
  /** The first there is; null when the export is whole. */
  fault: FileFault | null;
  /** What was found to be in order, up to the fault. */
  events: number;
  payments: number;
  /** What the file says it holds; null where it does not begin like an export. */
  range: ExportRange | null;
  /** Of the last line in order: of a whole file it stands for every byte, so that two copies can be told apart. */
  checksum: string;
};

/**
 * Reads an export of `ledger export` from its first line to the first fault. Needs as much memory as its longest payment
 * event, however many there are. Throws the operating system's error when the file cannot be read.
 */
export async function verifyFile(path: string): Promise<FileVerdict> {
  const state: State = {
    lines: 0,
    range: null,
    ended: false,
    checksum: firstChecksum,
    last: null,
    begun: null,
    events: 0,
    payments: 0,
  };
  const fault = await firstFault(path, state);
  const { events, payments, range, checksum } = state;
  return { fault, events, payments, range, checksum };
}

type Last = { stream: string; revision: number; hash: string };

type State = {
  /** Lines in order so far. */
  lines: number;
  range: ExportRange | null;
  ended: boolean;
  checksum: string;
  /** The event before. */
  last: Last | null;
  /** Where the payment under way stands in the order of the file. */
  begun: { at: number; stream: string } | null;
  events: number;
  payments: number;
};

async function firstFault(path: string, state: State): Promise<FileFault | null> {
  for await (const { bytes, ended } of linesOf(path)) {
    const text = bytes.toString();
    const reason = ended ? takeLine(bytes, text, state) : 'The file is cut off in this line';
    if (reason !== null) return { line: state.lines + 1, ...namedIn(text), reason };
    state.lines += 1;
  }
  if (state.ended) return null;
  if (state.lines === 0) return { line: 1, stream: null, revision: null, reason: 'The file is empty' };
  const { stream, revision } = state.last ?? { stream: null, revision: null };
  return { line: state.lines, stream, revision, reason: 'The file is cut off after this line' };
}

/** Why the line is not what should come now; null when it is, and was taken into the state. */
function takeLine(bytes: Buffer, text: string, state: State): string | null {
  if (state.ended) return 'Something follows the end of the export';
  const parsed = parse(text);
  if (!hasTail(text) || parsed === undefined) return 'It is no line of an export';
  const number = Reflect.get(parsed, 'line');
  if (typeof number === 'number' && number > state.lines + 1)
    return `Lines ${state.lines + 1} to ${number - 1} of the export are missing before it`;
  const checksum = checksumOf(state.checksum, bytes.subarray(0, -tailLength));
  if (checksum !== Reflect.get(parsed, 'checksum') || number !== state.lines + 1)
    return 'It is not the line that was exported here';
  const reason = takeParsed(parsed, state);
  if (reason === null) state.checksum = checksum;
  return reason;
}

function takeParsed(parsed: object, state: State): string | null {
  try {
    return state.lines === 0 ? takeHead(parsed, state) : takeNext(parsed, state);
  } catch (error) {
    // superstruct throws them on what is nested too deep, or has a `toString` that is no function.
    if (error instanceof RangeError || error instanceof TypeError)
      return 'It is no line that is ever written';
    throw error;
  }
}

function takeHead(parsed: object, state: State): string | null {
  if (!is(parsed, HeadLine)) return 'It does not say what was exported, in a form that this program knows';
  state.range = parsed.export;
  return null;
}

function takeNext(parsed: object, state: State): string | null {
  if (is(parsed, EventLine)) return takeEvent(parsed, state);
  if (!is(parsed, EndLine)) return 'It is neither an event nor the end of the export';
  const { events, payments } = parsed.end;
  if (events !== state.events || payments !== state.payments)
    return `It counts ${events} events of ${payments} payments; there are ${state.events} of ${state.payments}`;
  state.ended = true;
  return null;
}

function takeEvent(event: EventLine, state: State): string | null {
  const { stream, revision } = event;
  const begins = stream !== state.last?.stream;
  if (begins && !stream.startsWith(paymentStreamPrefix)) return 'Its stream is not that of a payment';
  const expected = begins ? 0 : (state.last?.revision ?? 0) + 1;
  if (revision !== expected) return `Revision ${expected} of the stream should come here`;
  if (!isChainedOnto(event, begins ? genesisHash : (state.last?.hash ?? genesisHash)))
    return 'It does not fit the chain: it, or the event before it, is not what was written';
  const read = readOrReason(event);
  if (typeof read === 'string') return read;
  if (begins && !isInPlace(read, stream, state))
    return 'The payment is not in its place: it comes before the one above, or twice';
  state.last = { stream, revision, hash: hashIn(event) };
  state.events += 1;
  return null;
}

/** Payments come in the order in which they were requested, each once. */
function isInPlace(first: PaymentEvent, stream: string, state: State): boolean {
  const { begun } = state;
  const at = Date.parse(first.data.at);
  if (begun && (at < begun.at || (at === begun.at && stream <= begun.stream))) return false;
  state.begun = { at, stream };
  state.payments += 1;
  return true;
}

function readOrReason(event: EventLine): PaymentEvent | string {
  try {
    return readPaymentEvent(event);
  } catch (error) {
    if (error instanceof UnreadableEvent) return `It cannot be read: ${error.message}`;
    throw error;
  }
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The event that a line is about, even where the rest of it cannot be read. */
function namedIn(text: string): Pick<FileFault, 'stream' | 'revision'> {
  const [, stream, revision] =
    /^\{"line":\d+,"stream":"([\w-]{1,200})","revision":(\d{1,15}),/.exec(text) ?? [];
  return stream === undefined ? { stream: null, revision: null } : { stream, revision: Number(revision) };
}

/** An event store takes no event of more than a few megabytes. */
const maxLineBytes = 64 * 1024 * 1024;
const newline = 0x0a;

/** Splits the bytes at every line feed; a line that has none, or is longer than any can be, did not end. */
async function* linesOf(path: string): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      yield { bytes: Buffer.concat([...held, rest.subarray(0, end)]), ended: true };
      held = [];
      heldBytes = 0;
      rest = rest.subarray(end + 1);
    }
    held.push(rest);
    heldBytes += rest.length;
    if (heldBytes > maxLineBytes) break;
  }
  if (heldBytes > 0) yield { bytes: Buffer.concat(held), ended: false };
}
