/**
 * The last checkpoint that was signed, kept outside the event store: in PostgreSQL, and in a file of the data folder. The
 * log may never go behind it. Also keeps why the sealer refuses to seal.
 */
import { rm } from 'node:fs/promises';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import { type Checkpoint, openCheckpoint } from '@ledger/transparency-log/note.ts';
import type { Knex } from 'knex';
import { sqlOf } from '../../common/sql.ts';
import { Unaccountable } from './stored-seals.ts';

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
    createTable: () => db.raw(sqlOf('audit-tables')),
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
    /** A process that was suspended does not replace what another one has stored meanwhile. */
    async keep(note: string): Promise<void> {
      await replaceFile(file, note);
      await db.raw(sqlOf('keep-checkpoint'), [note]);
    },
    async forget(): Promise<void> {
      await set({ checkpoint: null, refused: null });
      await rm(file, { force: true });
    },
    /** Why nothing is sealed; null if sealing continues. */
    refuse: (reason: string | null) => set({ refused: reason }),
  };
}
