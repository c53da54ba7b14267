/** `ledger reconcile`: compares an export of the gateway or the registry with the ledger. */
import { createReadStream } from 'node:fs';
import { reconcile as importExport } from '../reconciliation/reconcile.ts';
import { discrepancyText, isAllMatched, summaryText } from '../reconciliation/summary.ts';
import { type CommandOf, readArgument, readAsOf, readRange } from './command.ts';
import { failureText } from './failure-text.ts';
import { print, staffCause, withStores } from './stores.ts';

const needs = { uses: ['transactionIdKey'] } as const;

export const reconcile: CommandOf<'reconcile'> = async (
  { 'dry-run': dryRun = false, 'made-at': made, ...range },
  args,
) => {
  const path = readArgument(args, 'Name one file');
  const period = readRange(range);
  const madeAt = made === undefined ? null : readAsOf('made-at', made).toISOString();
  try {
    return await withStores('reconcile', needs, async ({ config: { transactionIdKey }, ...stores }) => {
      const summary = await importExport(
        { ...stores, transactionIdKey },
        {
          file: createReadStream(path),
          period,
          madeAt,
          dryRun,
          waitMs: 20_000,
          newCause: staffCause,
          onBadRow: ({ line, fault }) => print(`unreadable      line ${line} ${fault}`),
          onDiscrepancy: (id, discrepancy) => print(discrepancyText(id, discrepancy)),
        },
      );
      print(`\n${summaryText(summary)}`);
      if (dryRun) print('This was a dry run: nothing was recorded.');
      return isAllMatched(summary) ? 0 : 1;
    });
  } catch (error) {
    // Not 1, which means discrepancies: a scheduler must be able to tell them from a store that is down.
    process.stderr.write(`${failureText(error)}\n`);
    return 2;
  }
};
