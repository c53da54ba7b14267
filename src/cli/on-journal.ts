/** What commands that ask the journal share. */
import type { Knex } from 'knex';
import type { Config } from '../config/config.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../kernel/log.ts';
import { parseAsOf } from '../kernel/malaysian-time.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { journalGap } from '../projections/journal/queries.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { UsageError } from './command.ts';

type Asked = {
  asOf: Date;
  /** What a journal that lacks something is good for: an answer with a warning, or no document at all. */
  whenBehind: 'warn' | 'refuse';
};

/** Runs `work` on a connection of its own; resolves to the exit code. */
export async function onJournal(
  { asOf, whenBehind }: Asked,
  work: (db: Knex, config: Config) => Promise<number>,
): Promise<number> {
  const config = loadRoleConfig();
  const log = createLog('warn', 'journal');
  const db = connectPostgres({ url: config.databaseUrl, log });
  const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
  try {
    const gap = await journalGap({ eventStore, db }, asOf);
    if (gap) process.stderr.write(`${gap.message}.\n`);
    return gap && (gap.isMissing || whenBehind === 'refuse') ? 1 : await work(db, config);
  } finally {
    await Promise.all([eventStore.close(), db.destroy()]);
  }
}

/** Now, where none is given. */
export function readAsOf(text: string | undefined): Date {
  const now = new Date();
  if (text === undefined) return now;
  const asOf = parseAsOf(text, now);
  if (asOf === null) throw new UsageError('A time reads 2026-11-20T09:00:00+08:00, a day 2026-11-20');
  return asOf;
}
