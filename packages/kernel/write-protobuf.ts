/**
 * Writes protobuf messages by hand, for both ends of EventStoreDB's protocol: the generated classes took most of the time of
 * an append and of a read.
 */

type Part = string | Uint8Array | Field;

/** Ready to be written; `length` is that of all its bytes. `value` is its number, or the length of its parts. */
export type Field = { key: number; value: number; parts: readonly Part[]; length: number };

/** Any number up to 2^53. */
export const number = (tag: number, value: number): Field => fieldOf(tag * 8, value, []);

/** A text, bytes, or a message of these fields. */
export function field(tag: number, ...parts: readonly Part[]): Field {
  return fieldOf(tag * 8 + 2, lengthOf(parts), parts);
}

/** A message of these fields. */
export function encode(...fields: readonly Field[]): Buffer {
  const buffer = Buffer.allocUnsafe(lengthOf(fields));
  write(buffer, 0, fields);
  return buffer;
}

function fieldOf(key: number, value: number, parts: readonly Part[]): Field {
  const contentLength = parts.length === 0 ? 0 : value;
  return { key, value, parts, length: varintLength(key) + varintLength(value) + contentLength };
}

function lengthOf(parts: readonly Part[]): number {
  let length = 0;
  for (const part of parts) length += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  return length;
}

/** Returns where the parts end. */
function write(buffer: Buffer, start: number, parts: readonly Part[]): number {
  let place = start;
  for (const part of parts) {
    if (typeof part === 'string') place += buffer.write(part, place);
    else if (part instanceof Uint8Array) {
      buffer.set(part, place);
      place += part.length;
    } else {
      const afterKey = writeVarint(buffer, place, part.key);
      place = write(buffer, writeVarint(buffer, afterKey, part.value), part.parts);
    }
  }
  return place;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length += 1;
  return length;
}

function writeVarint(buffer: Buffer, start: number, value: number): number {
  let place = start;
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) buffer[place++] = (rest % 128) + 128;
  buffer[place++] = rest;
  return place;
}
