// The message in which readers receive an event. Its layout is that of EventStoreDB's streams.proto.
import { encode, field, number } from '@ledger/kernel/write-protobuf.ts';
import type { ProposedEvent } from './wire.ts';

/** The complete ReadResp that readers of this event will receive. */
export function encodeEvent(
  event: ProposedEvent,
  at: { stream: string; revision: number; position: number; created: Date },
): Buffer {
  const recorded = field(
    1,
    field(1, field(2, event.id)),
    field(2, field(3, at.stream)),
    number(3, at.revision),
    number(4, at.position),
    number(5, at.position),
    property('type', event.type),
    // In ticks of 100 ns: 10,000 to a millisecond.
    property('created', `${at.created.getTime()}0000`),
    property('content-type', event.contentType),
    field(7, event.metadata),
    field(8, event.data),
  );
  return encode(field(1, recorded, number(3, at.position)));
}

const property = (key: string, value: string) => field(6, field(1, key), field(2, value));
