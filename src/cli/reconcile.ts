/** `ledger reconcile`: an export of the gateway or the registry against the ledger. */
import { createReadStream } from 'node:fs';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../kernel/log.ts';
import { readSpan } from '../kernel/malaysian-time.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { reconcile as importExport } from '../reconciliation/reconcile.ts';
import type { AskedPeriod } from '../reconciliation/scope.ts';
import { isAllMatched } from '../reconciliation/summary.ts';
import { discrepancyText, summaryText } from '../reconciliation/texts.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, UsageError } from './command.ts';
import { failureText } from './failure-text.ts';
import { staffCause } from './staff.ts';

const options = { from: { type: 'string' }, to: { type: 'string' }, 'dry-run': { type: 'boolean' } } as const;

export const reconcile: Command<typeof options> = {
  summary: 'what an export of the gateway or the registry (CSV) says otherwise than the ledger',
  usage: 'FILE [--from DAY|TIME] [--to DAY|TIME] [--dry-run]',
  options,
  takesArguments: true,
  async run({ from, to, 'dry-run': dryRun = false }, [path = '', ...more]) {
    if (path === '' || more.length > 0) throw new UsageError('Name one file');
    const period = { from: readBound(from, 'start'), to: readBound(to, 'end') };
    try {
      return await importFile(path, period, dryRun);
    } catch (error) {
      // 1 says that something differs: a schedule that runs this must not take a store that is down for that.
      process.stderr.write(`${failureText(error)}\n`);
      return 2;
    }
  },
};

/** Prints every difference as it is found, then the summary. Resolves to 1 when not all is matched. */
async function importFile(path: string, period: AskedPeriod, dryRun: boolean): Promise<number> {
  const { databaseUrl, esdbUrl, transactionIdKey } = loadRoleConfig();
  const log = createLog('warn', 'reconcile');
  const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
  const db = connectPostgres({ url: databaseUrl, log });
  const print = (text: string) => process.stdout.write(`${text}\n`);
  try {
    const summary = await importExport(
      { eventStore, db, transactionIdKey, clock: () => new Date() },
      {
        file: createReadStream(path),
        period,
        dryRun,
        waitMs: 20_000,
        newCause: staffCause,
        onBadRow: ({ line, fault }) => print(`unreadable      line ${line} ${fault}`),
        onDifference: (id, difference) => print(discrepancyText(id, difference)),
      },
    );
    print(`\n${summaryText(summary)}`);
    if (dryRun) print('Nothing was kept: it was a dry run.');
    return isAllMatched(summary) ? 0 : 1;
  } finally {
    await Promise.all([eventStore.close(), db.destroy()]);
  }
}

/** A day is taken from its beginning, or to its end; without an offset it is Malaysian time. */
function readBound(text: string | undefined, bound: 'start' | 'end'): string | null {
  if (text === undefined) return null;
  const span = readSpan(text);
  if (!span) throw new UsageError('A time reads 2026-11-20 or 2026-11-20T09:00:00+08:00');
  return span[bound];
}
