/** Finds events that say they were recorded long before what had already been sealed. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import type { EarlyEvents } from './resume.ts';
import type { SealMark } from './seals.ts';
import { placeText } from './violations.ts';

/** Processes share one clock, and a command is recorded within seconds. */
export const toleratedMs = 60 * 60_000;

/** When an event says that it was recorded, in milliseconds since 1970; NaN if it does not. */
export function recordedMs({ data }: Pick<RecordedEvent, 'data'>): number {
  const at: unknown = Reflect.get(Object(data), 'at');
  return typeof at === 'string' ? Date.parse(at) : Number.NaN;
}

/**
 * The time that the log had surely reached when it was sealed up to this event. The event's time counts as well as the
 * seal's, because a sealer that has been away seals later; and the seal's, because the event's may be in the future.
 */
export const reachedMs = ({ at }: SealMark, last: Pick<RecordedEvent, 'data'>) =>
  Math.min(Date.parse(at), recordedMs(last) || 0);

/** To be told of each event with the seal that ends with it; begins after what was sealed by `sealedMs`. */
export function createTimeCheck(sealedMs: number, found: EarlyEvents) {
  let reached = sealedMs;
  let { count, first } = found;
  return {
    take(event: RecordedEvent, mark: SealMark | null): void {
      if (recordedMs(event) < reached - toleratedMs) {
        count += 1;
        first ||= placeText({ stream: event.streamName, revision: event.revision });
      }
      if (mark) reached = Math.max(reached, reachedMs(mark, event));
    },
    found: (): EarlyEvents => ({ count, first }),
  };
}
