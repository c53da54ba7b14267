/** Reading events that somebody may have changed. */
import { UnreadableEvent } from '../events/codec.ts';
import type { StreamKind } from '../events/streams.ts';

type Stored = Parameters<StreamKind['read']>[0];

/** What `read` makes of the event, or its error when the event cannot be read. */
export function tryRead<Event>(read: (stored: Stored) => Event, stored: Stored): Event | UnreadableEvent {
  try {
    return read(stored);
  } catch (error) {
    if (error instanceof UnreadableEvent) return error;
    throw error;
  }
}
