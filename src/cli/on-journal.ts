/** What commands that ask the journal share. */
import type { Knex } from 'knex';
import type { Config } from '../config.ts';
import { knownAtOf } from '../events/malaysian-time.ts';
import { createLog } from '../log.ts';
import { connectDatabase } from '../projections/database.ts';
import { journalGap } from '../projections/journal-queries.ts';
import { UsageError } from './command.ts';
import { loadRoleConfig } from './role-config.ts';

/** Runs `work` on a connection of its own; resolves to the exit code. A journal that stands still answers, with a warning. */
export async function onJournal(work: (db: Knex, config: Config) => Promise<number>): Promise<number> {
  const config = loadRoleConfig();
  const db = connectDatabase({ url: config.databaseUrl, log: createLog('warn', 'journal') });
  try {
    const gap = await journalGap(db);
    if (gap) process.stderr.write(`${gap.message}.\n`);
    return gap?.isMissing ? 1 : await work(db, config);
  } finally {
    await db.destroy();
  }
}

/** Now, where none is given. */
export function readKnownAt(text: string | undefined): Date {
  const now = new Date();
  if (text === undefined) return now;
  const knownAt = knownAtOf(text, now);
  if (knownAt === null) throw new UsageError('A time reads 2026-11-20T09:00:00+08:00, a day 2026-11-20');
  return knownAt;
}
