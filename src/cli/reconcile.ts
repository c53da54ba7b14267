/** `ledger reconcile`: compares an export of the gateway or the registry with the ledger. */
import { createReadStream } from 'node:fs';
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import { merchantCodeOf } from '../config/merchants.ts';
import type { DiscrepancyFound } from '../events/reconciliation.ts';
import { reconcile as importExport } from '../reconciliation/reconcile.ts';
import { discrepancyText, isAllMatched, summaryText } from '../reconciliation/summary.ts';
import { type CommandOf, readArgument, readAsOf, readableFile, readRange } from './command.ts';
import { exitCodeOf, failureText } from './failure-text.ts';
import { staffCause, withStores } from './stores.ts';

const needs = { uses: ['merchants', 'transactionIdKey'] } as const;

export const command: CommandOf<'reconcile'> = async (
  { 'dry-run': dryRun = false, 'made-at': made, ...range },
  args,
) => {
  const path = readableFile(readArgument(args, 'Name one file'));
  const period = readRange(range);
  const madeAt = made === undefined ? null : readAsOf('made-at', made);
  const badRows: BadRow[] = [];
  const discrepancies: (DiscrepancyFound & { id: string })[] = [];
  const findings = () => [
    ...badRows.map(({ line, fault }) => `unreadable      line ${line} ${fault}`),
    ...discrepancies.map((each) => discrepancyText(each.id, each)),
  ];
  try {
    return await withStores('reconcile', needs, async ({ config, ...stores }) => {
      const summary = await importExport(
        { ...stores, ...config, merchantCodeOf: (named) => merchantCodeOf(config.merchants, named) },
        {
          file: createReadStream(path),
          period,
          madeAt: madeAt?.(stores.runtime.now()).toISOString() ?? null,
          dryRun,
          waitMs: 20_000,
          newCause: staffCause,
          onBadRow: (row) => badRows.push(row),
          onDiscrepancy: (id, discrepancy) => discrepancies.push({ id, ...discrepancy }),
        },
      );
      const note = dryRun ? ['This was a dry run: nothing was recorded.'] : [];
      return {
        data: { ...summary, dryRun, unreadable: badRows, discrepancies },
        text: [...findings(), '', summaryText(summary), ...note].join('\n'),
        exitCode: isAllMatched(summary) ? 0 : 1,
      };
    });
  } catch (error) {
    for (const text of [...findings(), failureText(error)]) process.stderr.write(`${text}\n`);
    // 1 means discrepancies, which a scheduler must be able to tell from a file that cannot be read.
    return Math.max(2, exitCodeOf(error));
  }
};
