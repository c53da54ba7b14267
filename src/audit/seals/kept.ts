/**
 * The last checkpoint that was signed, kept outside the event store: in PostgreSQL, and in a file of the data folder. The
 * log may never go behind it. Also why the sealer refuses to seal, and what is not sealed, for other processes.
 */
import { rm } from 'node:fs/promises';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import { emptyIfUndefined } from '@ledger/postgres/error-codes.ts';
import { type Checkpoint, openCheckpoint } from '@ledger/transparency-log/note.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../../common/sql.ts';
import { sealsStream } from '../../events/seals.ts';
import { streamPrefixes } from '../../events/streams.ts';
import { auditTablesSql } from '../background-check/forged-rows.ts';
import { lastEventOf, sealedWithinMs, signedSealIn, Unaccountable } from './stored-seals.ts';

/** `name` says where it is kept, for a message; `note` is the signed text. */
export type KeptCheckpoint = Checkpoint & { name: string; note: string };

export type KeptCheckpoints = ReturnType<typeof keptCheckpoints>;

/** In the data folder. */
export const lastCheckpointFile = 'last-checkpoint';

/** `file` is its path. */
export function keptCheckpoints(db: Knex, file: string) {
  const set = async (columns: Record<string, string | null>) => {
    await db('log_checkpoint')
      .insert({ id: 1, ...columns })
      .onConflict('id')
      .merge(columns);
  };
  return {
    createTable: () => db.raw(auditTablesSql),
    /** Throws Unaccountable if one was changed. */
    async load(): Promise<KeptCheckpoint[]> {
      const { rows } = await db.raw<{ rows: { checkpoint: string | null }[] }>(
        'select checkpoint from log_checkpoint',
      );
      const texts = [
        { name: 'the checkpoint kept in PostgreSQL', text: rows[0]?.checkpoint ?? null },
        { name: `the checkpoint kept in ${file}`, text: await readIfThere(file) },
      ];
      return texts.flatMap(({ name, text }) => {
        if (text === null) return [];
        const checkpoint = openCheckpoint(text, null);
        if (typeof checkpoint === 'string') throw new Unaccountable(`It cannot be read: ${name}`);
        return { ...checkpoint, name, note: text };
      });
    },
    /** A process that stood still does not replace what another one has kept meanwhile. */
    async keep(note: string): Promise<void> {
      await replaceFile(file, note);
      await db.raw(sqlOf('keep-checkpoint'), [note]);
    },
    async forget(): Promise<void> {
      await set({ checkpoint: null, refused: null });
      await rm(file, { force: true });
    },
    /** Why nothing is sealed; null if sealing goes on. */
    refuse: (reason: string | null) => set({ refused: reason }),
  };
}

/** Why the sealer refuses to seal; null if it does not. Rejects when Postgres is down. */
export async function sealingRefused(db: Knex): Promise<string | null> {
  const query = db.raw<{ rows: { refused: string | null }[] }>('select refused from log_checkpoint');
  return (await emptyIfUndefined(query.timeout(2_000)))[0]?.refused ?? null;
}

type Unsealed =
  | { state: 'none' }
  /** `since`: when the oldest event that no seal covers was stored. */
  | { state: 'due' | 'overdue'; since: Date }
  /** The sealer refuses to sign: the log contradicts what was signed before. */
  | { state: 'unaccountable'; reason: string };

/**
 * Whether the log is being sealed, as staff see it: from the last seal and the first event after it, and from what the
 * sealer has said, where Postgres answers. Throws EventStoreUnavailable, also when the signal aborts before the store has
 * answered.
 */
export async function unsealed(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
  db: Knex,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<Unsealed> {
  const refused = await sealingRefused(db).catch(() => null);
  if (refused !== null) return { state: 'unaccountable', reason: refused };
  try {
    const last = await eventStore.loadLast(sealsStream);
    const after = last && (await lastEventOf(signedSealIn(last), eventStore)).position;
    const oldest = await eventStore.firstAfter({ streamPrefixes, after, signal });
    if (!oldest) return { state: 'none' };
    const since = oldest.created;
    return { state: now.getTime() - since.getTime() > sealedWithinMs ? 'overdue' : 'due', since };
  } catch (error) {
    if (error instanceof Unaccountable) return { state: 'unaccountable', reason: error.message };
    throw error;
  }
}
