/** What a stream says happened to a payment: every event, the state after each, and whether anybody changed it since. */
import { fitsOnto, hashIn } from '../events/envelope.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../events/payment.ts';
import { readPaymentEvent, UnreadableEvent } from '../events/recorded.ts';
import type { RecordedEvent } from '../eventstore/event-store.ts';

/** JSON through and through. */
export type HistoryEntry = {
  revision: number;
  /** In the log of all streams: 64 bits wide, so as text. */
  position: { commit: string; prepare: string };
  /** As the event has it, which the chain covers; null where the event cannot be read. */
  at: string | null;
  type: string;
  /** These three are null where the metadata are not what was ever written. */
  actor: string | null;
  correlationId: string | null;
  causationId: string | null;
  eventId: string;
  data: unknown;
  /** After this event; an event that cannot be read changes nothing. */
  state: Payment;
  /** Whether it is as it was written and follows the event before it. */
  fits: boolean;
};

/** Of the first event at fault: changed, or not the one that followed; or as it was written and not understood. */
export type HistoryVerdict = { kind: 'whole' } | { kind: 'broken' | 'unreadable'; revision: number };

export type History = { entries: readonly HistoryEntry[]; verdict: HistoryVerdict };

/** `events` are a payment's whole stream. Never throws: what was changed beyond reading is shown as it is. */
export function historyOf(events: readonly RecordedEvent[]): History {
  let state = noPayment;
  const entries = events.map((event, index) => {
    const read = readOrNull(event);
    if (read) state = evolve(state, read);
    const fits = event.revision === index && fitsOnto(event, hashIn(events[index - 1]));
    return entryOf(event, read, state, fits);
  });
  const fault = entries.find(({ fits, at }) => !fits || at === null);
  return {
    entries,
    verdict: fault
      ? { kind: fault.fits ? 'unreadable' : 'broken', revision: fault.revision }
      : { kind: 'whole' },
  };
}

function entryOf(
  event: RecordedEvent,
  read: PaymentEvent | null,
  state: Payment,
  fits: boolean,
): HistoryEntry {
  const { revision, position, type, id, data, metadata } = event;
  const said = (name: string) => {
    const value = typeof metadata === 'object' && metadata !== null && Reflect.get(metadata, name);
    return typeof value === 'string' ? value : null;
  };
  return {
    revision,
    position: { commit: String(position.commit), prepare: String(position.prepare) },
    at: read?.data.at ?? null,
    type,
    actor: said('actor'),
    correlationId: said('$correlationId'),
    causationId: said('$causationId'),
    eventId: id,
    data,
    state,
    fits,
  };
}

function readOrNull(event: RecordedEvent): PaymentEvent | null {
  try {
    return readPaymentEvent(event);
  } catch (error) {
    if (error instanceof UnreadableEvent) return null;
    throw error;
  }
}

/** Time travel: how far to go. */
export type Until = { at: Date } | { revision: number } | null;

/**
 * The entries that were there at a time, or up to a revision; all where it is null. The clocks of several machines
 * differ a little and events are appended one after the other: none was there before one that stands before it, so the
 * first that is later ends the list. An entry without a time is as old as the one before it.
 */
export function entriesUntil(entries: readonly HistoryEntry[], until: Until): readonly HistoryEntry[] {
  if (until === null) return entries;
  const first =
    'at' in until
      ? entries.findIndex(({ at }) => at !== null && Date.parse(at) > until.at.getTime())
      : entries.findIndex(({ revision }) => revision > until.revision);
  return first === -1 ? entries : entries.slice(0, first);
}
