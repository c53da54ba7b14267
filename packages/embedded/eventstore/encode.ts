// The message in which readers receive an event, written by hand: the generated classes took most of an append's time.
// Its layout is that of EventStoreDB's streams.proto.
import type { ProposedEvent } from './wire.ts';

/** More than all keys, lengths, numbers, ids and names of properties take together. */
const FIXED_BYTES = 512;

/** The complete ReadResp that readers of this event will receive. */
export function encodeEvent(
  event: ProposedEvent,
  at: { stream: string; revision: number; position: number; created: Date },
): Uint8Array {
  const texts = 3 * (at.stream.length + event.type.length);
  const writer = backwards(event.data.length + event.metadata.length + texts + FIXED_BYTES);
  const property = (key: string, value: string) =>
    writer.message(6, () => {
      writer.text(2, value);
      writer.text(1, key);
    });
  writer.message(1, () => {
    writer.number(3, at.position);
    writer.message(1, () => {
      if (event.data.length > 0) writer.bytes(8, event.data);
      if (event.metadata.length > 0) writer.bytes(7, event.metadata);
      property('type', event.type);
      // In ticks of 100 ns: 10,000 to a millisecond.
      property('created', `${at.created.getTime()}0000`);
      property('content-type', event.contentType);
      writer.number(5, at.position);
      writer.number(4, at.position);
      if (at.revision > 0) writer.number(3, at.revision);
      writer.message(2, () => writer.text(3, at.stream));
      writer.message(1, () => writer.text(2, event.id));
    });
  });
  return writer.written();
}

/** Writes fields from the last to the first, so that the length of a message is known when it is due. */
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
    written: () => Uint8Array.prototype.slice.call(buffer, place),
  };
}
