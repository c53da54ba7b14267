// Protobuf by hand, for the messages that each append needs: the generated classes took most of their time.

type Value = Buffer | number | bigint;

/** The values of each field of a message, by its number. A field that is not repeated counts with its last value. */
export type Message = readonly (readonly Value[] | undefined)[];

/** No message of this protocol has more fields. */
const MAX_FIELD = 31;

/** Fields that nobody asks for do no harm. Throws RangeError if this is no message. */
export function parse(bytes: Buffer): Message {
  const fields: Value[][] = [];
  let place = 0;

  function varint(): number | bigint {
    let value = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = bytes[place++];
      if (byte === undefined) break;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    let large = BigInt(value);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = bytes[place++];
      if (byte === undefined) break;
      large |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, large);
    }
    throw new RangeError('A number is cut off or too long');
  }

  function take(length: number): Buffer {
    const from = place;
    place += length;
    if (place > bytes.length) throw new RangeError('A field is cut off');
    return bytes.subarray(from, place);
  }

  function value(type: number): Value {
    if (type === 0) return varint();
    if (type === 1) return take(8);
    if (type === 2) return take(Number(varint()));
    if (type === 5) return take(4);
    throw new RangeError(`A field has the unknown type ${type}`);
  }

  while (place < bytes.length) {
    const key = Number(varint());
    const field = Math.floor(key / 8);
    const found = value(key % 8);
    if (field === 0) throw new RangeError('A field has no number');
    if (field > MAX_FIELD) continue;
    fields[field] ??= [];
    fields[field].push(found);
  }
  return fields;
}

export const has = (message: Message, field: number): boolean => message[field] !== undefined;

/** 0 if it is missing. */
export function numberIn(message: Message, field: number): number | bigint {
  const value = message[field]?.at(-1);
  return value === undefined || Buffer.isBuffer(value) ? 0 : value;
}

const allBytesIn = (message: Message | undefined, field: number): Buffer[] =>
  (message?.[field] ?? []).filter(Buffer.isBuffer);

/** Empty if they are missing. */
export const bytesIn = (message: Message | undefined, field: number): Buffer =>
  allBytesIn(message, field).at(-1) ?? Buffer.of();

export const textIn = (message: Message | undefined, field: number): string =>
  bytesIn(message, field).toString('utf8');

export const textsIn = (message: Message, field: number): string[] =>
  allBytesIn(message, field).map((bytes) => bytes.toString('utf8'));

export const messagesIn = (message: Message, field: number): Message[] =>
  allBytesIn(message, field).map(parse);

export const messageIn = (message: Message, field: number): Message | undefined =>
  messagesIn(message, field).at(-1);

/** More than all keys, lengths, numbers, ids and names of properties in a message take together. */
export const FIXED_BYTES = 512;

export type Writer = ReturnType<typeof backwards>;

/** A message of at most so many bytes. `writeFields` writes them from the last to the first. */
export function encode(mostBytes: number, writeFields: (writer: Writer) => void): Buffer {
  const writer = backwards(mostBytes);
  writeFields(writer);
  return writer.written();
}

/** The length of a message is known when it is due. */
function backwards(mostBytes: number) {
  const buffer = Buffer.allocUnsafe(mostBytes);
  let place = mostBytes;

  function varint(value: number): void {
    let size = 1;
    for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
    place -= size;
    let rest = value;
    for (let index = 0; index < size - 1; index += 1) {
      buffer[place + index] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    buffer[place + size - 1] = rest;
  }

  function key(field: number, length: number): void {
    varint(length);
    varint(field * 8 + 2);
  }

  return {
    number(field: number, value: number): void {
      varint(value);
      varint(field * 8);
    },
    bytes(field: number, value: Uint8Array): void {
      place -= value.length;
      buffer.set(value, place);
      key(field, value.length);
    },
    empty: (field: number): void => key(field, 0),
    text(field: number, value: string): void {
      const length = Buffer.byteLength(value);
      place -= length;
      buffer.write(value, place);
      key(field, length);
    },
    message(field: number, writeFields: () => void): void {
      const end = place;
      writeFields();
      key(field, end - place);
    },
    /** A copy, so that what was allocated in excess is free again. */
    written: (): Buffer => Buffer.from(Uint8Array.prototype.slice.call(buffer, place).buffer),
  };
}
