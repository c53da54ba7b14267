/** A payment's history from its stream: every event, the state after each, and whether anybody has changed it since. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { positionText } from '@ledger/event-store/position.ts';
import { Refused } from '../../commands/decider.ts';
import { InvalidFields } from '../../commands/fields.ts';
import { lastMomentOf } from '../../common/malaysian-time.ts';
import { tryRead, UnreadableEvent } from '../../events/codec.ts';
import { hashIn, isChainedOnto, metadataText } from '../../events/envelope.ts';
import {
  evolve,
  noPayment,
  type Payment,
  type PaymentEvent,
  readPaymentEvent,
  withoutPersonalData,
} from '../../events/payment.ts';

export type HistoryEntry = ReturnType<typeof entryOf>;

/** Names the first event that was changed, does not follow the previous one, or is intact but unreadable. */
type HistoryVerdict = { kind: 'whole' } | { kind: 'broken' | 'unreadable'; revision: number };

export type History = ReturnType<typeof historyOf>;

/** `stored` is a payment's whole stream. Never throws: an event that was made unreadable is shown as it is. */
export function historyOf(stored: readonly RecordedEvent[]) {
  let state = noPayment;
  const events = stored.map((event) => {
    const read = tryRead(readPaymentEvent, event);
    return read instanceof UnreadableEvent ? null : read;
  });
  const entries = stored.map((event, index) => {
    const read = events[index] ?? null;
    if (read) state = evolve(state, read);
    const fits = event.revision === index && isChainedOnto(event, hashIn(stored[index - 1]));
    return entryOf(event, read, { state, fits });
  });
  const erased = entries.findLastIndex(({ type, at }) => type === 'PersonalDataErased' && at !== null);
  return {
    entries: entries.map((entry, index) => (index < erased ? withoutPlainText(entry) : entry)),
    /** The same events of the current schema; null for one that cannot be read. */
    events,
    verdict: verdictOn(entries),
  };
}

/**
 * All fields are plain JSON. `state` is the payment after this event; an event that cannot be read does not change it.
 * `fits`: whether the event is as it was written and follows the one before it.
 */
function entryOf(
  event: RecordedEvent,
  read: PaymentEvent | null,
  { state, fits }: { state: Payment; fits: boolean },
) {
  const { data, id: eventId, revision, type } = event;
  return {
    revision,
    /** In the log of all streams; as text, because the numbers have 64 bits. */
    position: positionText(event.position),
    /** The event's own time, which the chain covers; null where the event cannot be read. */
    at: read?.data.at ?? null,
    type,
    /** These three are null if somebody has changed the metadata. */
    actor: metadataText(event, 'actor'),
    correlationId: metadataText(event, '$correlationId'),
    causationId: metadataText(event, '$causationId'),
    eventId,
    data,
    state,
    fits,
  };
}

/** Personal data that an early release wrote in plain text are not shown once they are erased. */
function withoutPlainText(entry: HistoryEntry): HistoryEntry {
  const { data, state } = entry;
  return {
    ...entry,
    data: scrubbed(data),
    state: state.status === 'none' ? state : withoutPersonalData(state, state.personalData.erasedAt),
  };
}

/** The fields of version 1 that held personal data; none of them is a field of a later version. */
const plainFields = ['payer', 'extra', 'raw', 'buyerName'];

function scrubbed(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const entries = Object.entries(data).filter(([name]) => !plainFields.includes(name));
  const rest = Object.fromEntries(entries);
  return 'result' in rest ? { ...rest, result: scrubbed(rest.result) } : rest;
}

function verdictOn(entries: readonly HistoryEntry[]): HistoryVerdict {
  const fault = entries.find(({ fits, at }) => !fits || at === null);
  if (!fault) return { kind: 'whole' };
  return { kind: fault.fits ? 'unreadable' : 'broken', revision: fault.revision };
}

/** The time, or the revision, up to which events count; null if all do. */
export type Until = { at: Date } | { revision: number } | null;

/** Reads one of the two as people type it; a day or a second means all of it. Throws InvalidFields. */
export function readUntil({ at, revision }: Partial<Record<'at' | 'revision', string | undefined>>): Until {
  if (at !== undefined && revision !== undefined)
    throw new InvalidFields('Either a time or a revision can be given, not both');
  if (revision !== undefined) {
    if (!/^\d{1,9}$/.test(revision))
      throw new InvalidFields(['revision', 'must be a whole number, 0 or more']);
    return { revision: Number(revision) };
  }
  if (at === undefined) return null;
  const moment = lastMomentOf(at);
  if (moment === null) throw new InvalidFields(['at', timeForms]);
  return { at: new Date(moment) };
}

/** The end of the message about an invalid time. */
export const timeForms =
  'must be a time such as 2026-11-20T14:00:00+08:00, or 2026-11-20 14:00 or 2026-11-20 in Malaysian time';

/**
 * The entries up to a time or a revision. They end before the first entry later than the time, whatever the times of
 * those after it: events are appended in order, but the clocks of several machines differ a little. An entry without a
 * time counts as old as the one before it. Throws Refused when there was none yet, and InvalidFields when there
 * is no such revision.
 */
export function entriesUntil({ entries }: Pick<History, 'entries'>, until: Until): readonly HistoryEntry[] {
  const last = entries.at(-1);
  if (!last) throw new Refused('unknown_payment', 'Payment not found');
  if (until === null) return entries;
  if ('revision' in until) {
    if (until.revision > last.revision)
      throw new InvalidFields(['revision', `must be at most ${last.revision}, which is the last`]);
    return entries.filter(({ revision }) => revision <= until.revision);
  }
  const later = entries.findIndex(({ at }) => at !== null && Date.parse(at) > until.at.getTime());
  if (later === 0) throw new Refused('unknown_payment', 'This payment was not requested until later');
  return later === -1 ? entries : entries.slice(0, later);
}
