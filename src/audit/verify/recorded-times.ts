/** Finds events whose recorded times are much earlier than the time that the log had already reached. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import type { EarlyEvents } from './resume.ts';
import type { SealMark } from './seals.ts';
import { type Place, placeText } from './violations.ts';

/** Processes share one clock, and a command is recorded within seconds. */
const toleratedMs = 60 * 60_000;

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

/** Begins where the log had surely reached `sinceMs`, and adds to what was found before. */
export function createTimeCheck(sinceMs: number, found: EarlyEvents) {
  let reached = sinceMs;
  let { count, first } = found;
  return {
    /** To be called with each event, and the time that the log has reached with it. */
    take(event: Pick<RecordedEvent, 'data'>, place: Place, nowReachedMs: number): void {
      if (recordedMs(event) < reached - toleratedMs) {
        count += 1;
        first ||= placeText(place);
      }
      reached = Math.max(reached, nowReachedMs);
    },
    found: (): EarlyEvents => ({ count, first }),
  };
}
