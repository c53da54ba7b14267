/**
 * Writes protobuf messages by hand, for both ends of EventStoreDB's protocol: the generated classes took most of the time of
 * an append and of a read.
 */

type Part = string | Uint8Array | Field;

/** Ready to be written; `length` is that of all its bytes. `value` is its number, or the length of its parts. */
export type Field = { key: number; value: number | bigint; parts: readonly Part[]; length: number };

/** Any number up to 2^64; above 2^53 as a bigint. */
export const number = (tag: number, value: number | bigint): Field => {
  const key = tag * 8;
  return { key, value, parts: [], length: varintLength(key) + varintLength(value) };
};

/** A text, bytes, or a message of these fields. */
export function field(tag: number, ...parts: readonly Part[]): Field {
  const key = tag * 8 + 2;
  const value = lengthOf(parts);
  return { key, value, parts, length: varintLength(key) + varintLength(value) + value };
}

/** A message of these fields. */
export function encode(...fields: readonly Field[]): Buffer {
  const buffer = Buffer.allocUnsafe(lengthOf(fields));
  write(buffer, 0, fields);
  return buffer;
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

/** Seven bits go into a byte. */
const isLast = (rest: number | bigint) => rest < 128;
const lowest = (rest: number | bigint) => Number(typeof rest === 'bigint' ? rest & 127n : rest % 128);
const others = (rest: number | bigint) => (typeof rest === 'bigint' ? rest >> 7n : Math.floor(rest / 128));

function varintLength(value: number | bigint): number {
  let length = 1;
  for (let rest = value; !isLast(rest); rest = others(rest)) length += 1;
  return length;
}

function writeVarint(buffer: Buffer, start: number, value: number | bigint): number {
  let place = start;
  let rest = value;
  for (; !isLast(rest); rest = others(rest)) buffer[place++] = lowest(rest) + 128;
  buffer[place++] = lowest(rest);
  return place;
}
