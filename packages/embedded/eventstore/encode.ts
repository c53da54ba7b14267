// The message in which readers receive an event. Its layout is that of EventStoreDB's streams.proto.
import { encode, FIXED_BYTES, type Writer } from './protobuf.ts';
import type { ProposedEvent } from './wire.ts';

/** The complete ReadResp that readers of this event will receive. */
export function encodeEvent(
  event: ProposedEvent,
  at: { stream: string; revision: number; position: number; created: Date },
): Buffer {
  const texts = 3 * (at.stream.length + event.type.length);
  return encode(event.data.length + event.metadata.length + texts + FIXED_BYTES, (writer) =>
    writer.message(1, () => {
      writer.number(3, at.position);
      writer.message(1, () => {
        if (event.data.length > 0) writer.bytes(8, event.data);
        if (event.metadata.length > 0) writer.bytes(7, event.metadata);
        property(writer, 'type', event.type);
        // In ticks of 100 ns: 10,000 to a millisecond.
        property(writer, 'created', `${at.created.getTime()}0000`);
        property(writer, 'content-type', event.contentType);
        writer.number(5, at.position);
        writer.number(4, at.position);
        if (at.revision > 0) writer.number(3, at.revision);
        writer.message(2, () => writer.text(3, at.stream));
        writer.message(1, () => writer.text(2, event.id));
      });
    }),
  );
}

const property = (writer: Writer, key: string, value: string) =>
  writer.message(6, () => {
    writer.text(2, value);
    writer.text(1, key);
  });
