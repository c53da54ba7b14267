/** What a stream says happened to a payment: every event, the state after each, and whether anybody changed it since. */
import { Refused } from '../../commands/decider.ts';
import { InvalidFields } from '../../commands/fields.ts';
import { readPaymentEvent, UnreadableEvent } from '../../events/codec.ts';
import { hashIn, isChainedOnto } from '../../events/envelope.ts';
import { evolve, noPayment, type Payment, type PaymentEvent } from '../../events/payment.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { lastMomentOf } from '../../kernel/malaysian-time.ts';

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
    const fits = event.revision === index && isChainedOnto(event, hashIn(events[index - 1]));
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

/** Time travel: the moment, or the revision, up to which events count; null where all of them do. */
export type Until = { at: Date } | { revision: number } | null;

/** Reads either of the two as somebody typed it; a day means all of it. Throws InvalidFields. */
export function readUntil({
  at,
  revision,
}: {
  at?: string | undefined;
  revision?: string | undefined;
}): Until {
  if (at !== undefined && revision !== undefined)
    throw new InvalidFields('Either a time or a revision says how far to go');
  if (revision !== undefined) {
    if (!/^\d{1,9}$/.test(revision)) throw new InvalidFields('revision must be a whole number, 0 or more');
    return { revision: Number(revision) };
  }
  if (at === undefined) return null;
  const moment = lastMomentOf(at);
  if (moment === null) throw new InvalidFields(`at ${timeForms}`);
  return { at: new Date(moment) };
}

/** What is said of a time that cannot be read. */
export const timeForms =
  'must be a time such as 2026-11-20T14:00:00+08:00, or 2026-11-20 14:00 or 2026-11-20 in Malaysian time';

/**
 * The entries that were there at a time, or up to a revision. The clocks of several machines differ a little, and events
 * are appended one after the other: none was there before one that stands before it, so the first that is later ends
 * the list. An entry without a time is as old as the one before it. Throws Refused when none was there yet and
 * InvalidFields when there is no such revision.
 */
export function entriesUntil({ entries }: History, until: Until): readonly HistoryEntry[] {
  const last = entries.at(-1);
  if (!last) throw new Refused('unknown_payment', 'Payment not found');
  if (until === null) return entries;
  if ('revision' in until) {
    if (until.revision > last.revision)
      throw new InvalidFields(`revision must be at most ${last.revision}, the last there is`);
    return entries.filter(({ revision }) => revision <= until.revision);
  }
  const later = entries.findIndex(({ at }) => at !== null && Date.parse(at) > until.at.getTime());
  if (later === 0)
    throw new Refused('unknown_payment', 'At that time this payment had not been asked for yet');
  return later === -1 ? entries : entries.slice(0, later);
}
