/** Whether the log is being sealed, as other processes and staff see it. */
import type { EventStore, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { rowsWithin } from '@ledger/postgres/error-codes.ts';
import { cosignersOf } from '@ledger/transparency-log/note.ts';
import type { Knex } from 'knex';
import { sealsStream } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import { lastEventOf } from './find-seals.ts';
import { readSignedSeal, signedSealIn, Unaccountable } from './stored-seals.ts';

/** The sealer seals at least every ten minutes; when an event waits longer than this, sealing has stopped. */
export const sealedWithinMs = 30 * 60_000;

/** Why the sealer refuses to seal; null if it does not. Rejects when Postgres is down. */
export async function sealingRefused(db: Knex): Promise<string | null> {
  type Row = { refused: string | null };
  return (await rowsWithin<Row>(2_000, db, 'select refused from log_checkpoint'))[0]?.refused ?? null;
}

/**
 * Whether an event is waiting for a seal, and `since` when. Unaccountable: none is sealed any more, because the log
 * contradicts what was signed before, as the sealer says where Postgres answers, or as the last seal shows. Throws
 * EventStoreUnavailable, also when the signal aborts before the store has answered.
 */
export async function unsealed(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
  db: Knex,
  { now, signal }: { now: Date; signal: AbortSignal },
) {
  const refused = await sealingRefused(db).catch(() => null);
  if (refused !== null) return { state: 'unaccountable' as const, reason: refused };
  try {
    const last = await eventStore.loadLast(sealsStream);
    const after = last && (await lastEventOf(signedSealIn(last), eventStore)).position;
    const oldest = await eventStore.firstAfter({ streamPrefixes, after, signal });
    if (!oldest) return { state: 'none' as const };
    const since = oldest.created;
    const isOverdue = now.getTime() - since.getTime() > sealedWithinMs;
    return { state: isOverdue ? ('overdue' as const) : ('due' as const), since };
  } catch (error) {
    if (error instanceof Unaccountable) return { state: 'unaccountable' as const, reason: error.message };
    throw error;
  }
}

/** How many of the witnesses that are to sign each seal have not signed this one. */
export const witnessesMissing = (seal: RecordedEvent, witnesses: number) =>
  Math.max(0, witnesses - cosignersOf(readSignedSeal(seal)?.checkpoint?.note ?? '').length);
