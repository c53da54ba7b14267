/** From the client's recorded event to ours. */
import type { RecordedEvent as ClientEvent } from '@eventstore/db-client';
import type { RecordedEvent } from './event-store.ts';

/**
 * Data and metadata as the client parsed them: JSON as values, what is not JSON as Uint8Array (JSON that does
 * not parse as its text). Judging them is for the reader of the event.
 */
export function toRecordedEvent(event: ClientEvent): RecordedEvent {
  if (!event.position) throw new Error(`Event ${event.id} came without its position`);
  return {
    id: event.id,
    type: event.type,
    data: event.data,
    metadata: event.metadata,
    streamName: event.streamId,
    revision: Number(event.revision),
    position: event.position,
    created: event.created,
  };
}
