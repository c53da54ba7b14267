// Writes protobuf messages by hand, from their end to their beginning.

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
    written: (): Buffer => Buffer.from(buffer.subarray(place)),
  };
}
