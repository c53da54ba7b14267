/**
 * Reads protobuf messages by hand, for both ends of EventStoreDB's protocol: the generated classes took most of the time of
 * an append and of a read.
 */

/** Where the fields of a message are in its bytes. A field that is not repeated counts with its last value. */
export type Message = {
  readonly bytes: Buffer;
  readonly numbers: (number | bigint | undefined)[];
  /** Where bytes, texts and messages begin and end, by turns. */
  readonly places: (number[] | undefined)[];
};

/** No message of this protocol has more fields. */
const MAX_FIELD = 31;

/** Fields that nobody asks for do no harm. Throws RangeError if there is no message at this place. */
export function parse(bytes: Buffer, from = 0, to = bytes.length): Message {
  const message: Message = { bytes, numbers: [], places: [] };
  const cursor = { bytes, place: from, to };
  while (cursor.place < to) {
    const key = readVarint(cursor);
    // Numbers of fields have 29 bits. A larger key would also lose its type when it is rounded.
    if (typeof key === 'bigint' || key < 8 || key >= 2 ** 32) throw new RangeError('A field has no number');
    const field = Math.floor(key / 8);
    const type = key % 8;
    if (type === 0) {
      const value = readVarint(cursor);
      if (field <= MAX_FIELD) message.numbers[field] = value;
    } else if (type === 2) {
      const length = Number(readVarint(cursor));
      const begin = cursor.place;
      skip(cursor, length);
      if (field > MAX_FIELD) continue;
      message.places[field] ??= [];
      message.places[field].push(begin, cursor.place);
    } else if (type === 1 || type === 5) skip(cursor, type === 1 ? 8 : 4);
    else throw new RangeError(`A field has the unknown type ${type}`);
  }
  return message;
}

type Cursor = { readonly bytes: Buffer; place: number; readonly to: number };

function skip(cursor: Cursor, length: number): void {
  cursor.place += length;
  if (cursor.place > cursor.to) throw new RangeError('A field is cut off');
}

function readVarint(cursor: Cursor): number | bigint {
  let value = 0;
  for (let scale = 1; scale < 2 ** 49; scale *= 128) {
    const byte = nextByte(cursor);
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
  let large = BigInt(value);
  for (let shift = 49n; shift < 70n; shift += 7n) {
    const byte = nextByte(cursor);
    large |= BigInt(byte & 127) << shift;
    if (byte < 128) return BigInt.asUintN(64, large);
  }
  throw new RangeError('A number is too long');
}

function nextByte(cursor: Cursor): number {
  const byte = cursor.place < cursor.to ? cursor.bytes[cursor.place] : undefined;
  if (byte === undefined) throw new RangeError('A number is cut off');
  cursor.place += 1;
  return byte;
}

export const has = ({ numbers, places }: Message, field: number): boolean =>
  numbers[field] !== undefined || places[field] !== undefined;

/** 0 if it is missing. */
export const numberIn = (message: Message, field: number): number | bigint => message.numbers[field] ?? 0;

/** Empty if they are missing. */
export const bytesIn = (message: Message | undefined, field: number): Buffer =>
  lastIn(message, field, (bytes, from, to) => bytes.subarray(from, to)) ?? Buffer.of();

export const textIn = (message: Message | undefined, field: number): string =>
  lastIn(message, field, textAt) ?? '';

export const messageIn = (message: Message | undefined, field: number): Message | undefined =>
  lastIn(message, field, parse);

export const messagesIn = (message: Message, field: number): Message[] => allIn(message, field, parse);

export const textsIn = (message: Message, field: number): string[] => allIn(message, field, textAt);

type At<T> = (bytes: Buffer, from: number, to: number) => T;

const textAt: At<string> = (bytes, from, to) => bytes.toString('utf8', from, to);

function lastIn<T>(message: Message | undefined, field: number, at: At<T>): T | undefined {
  const places = message?.places[field];
  return message && places && at(message.bytes, places.at(-2) ?? 0, places.at(-1) ?? 0);
}

function allIn<T>(message: Message, field: number, at: At<T>): T[] {
  const places = message.places[field] ?? [];
  const found: T[] = [];
  for (let index = 0; index < places.length; index += 2)
    found.push(at(message.bytes, places[index] ?? 0, places[index + 1] ?? 0));
  return found;
}
