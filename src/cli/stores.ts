/** What short commands run with: the configuration, connections that are closed at the end, and a cause for their events. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Knex } from 'knex';
import { Refused } from '../commands/decider.ts';
import { InvalidFields } from '../commands/fields.ts';
import type { Cause } from '../events/envelope.ts';
import { createLog } from '../kernel/log.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { assertStores, loadRoleConfig, openStores, type RoleDependencies } from '../roles/lifecycle.ts';
import { UsageError } from './command.ts';

export type Context = RoleDependencies;
export type ContextWithDatabase = Context & { db: Knex; databaseUrl: string };

/** Runs `work` on an event store. Prints a refusal, with exit code 1. Throws UsageError for invalid fields. */
export async function withEventStore(
  name: string,
  work: (context: Context) => Promise<number>,
): Promise<number> {
  try {
    return await connected(name, work);
  } catch (error) {
    if (error instanceof InvalidFields) throw new UsageError(error.message);
    if (!(error instanceof Refused)) throw error;
    return fail(`${error.message}.`);
  }
}

export async function withStores(
  name: string,
  work: (context: ContextWithDatabase) => Promise<number>,
  options: { longestQueryMs?: number } = {},
): Promise<number> {
  return await connected(name, async (context) => {
    const { databaseUrl } = context.config;
    const db = connectPostgres({ url: databaseUrl, log: context.log, ...options });
    try {
      return await work({ ...context, db, databaseUrl });
    } finally {
      await db.destroy();
    }
  });
}

/**
 * Runs `work` on the stores; resolves to the exit code. When the journal lacks entries, it says so, and `whenBehind`
 * decides whether the command still runs: an amount on the terminal may be incomplete, a document may not.
 */
export async function withJournal(
  { asOf, whenBehind }: { asOf: Date; whenBehind: 'warn' | 'refuse' },
  work: (context: ContextWithDatabase) => Promise<number>,
): Promise<number> {
  const { journalGap } = await import('../projections/journal/queries.ts');
  return await withStores('journal', async (context) => {
    const gap = await journalGap(asOf, context);
    if (gap) process.stderr.write(`${gap.message}.\n`);
    return gap && !gap.isParked && (gap.isMissing || whenBehind === 'refuse') ? 1 : await work(context);
  });
}

async function connected(name: string, work: (context: Context) => Promise<number>): Promise<number> {
  const config = loadRoleConfig();
  await assertStores(config);
  const stores = openStores(config, createLog('warn', name));
  try {
    return await work(stores);
  } finally {
    await stores.stop();
  }
}

/** The cause of a command given by the user who is logged in on this machine. */
export function staffCause(): Cause {
  const commandId = randomUUID();
  return { commandId, correlationId: commandId, causationId: commandId, actor: `staff:${userName()}` };
}

/** In a container, an account may have a number but no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints on standard error, and returns the exit code of a failure. */
export function fail(text: string): 1 {
  process.stderr.write(`${text}\n`);
  return 1;
}
