/** `ledger settle`: records what the gateway paid out and what was remitted to agencies. */
import { createReadStream } from 'node:fs';
import { Refused } from '../commands/decider.ts';
import { displaySen } from '../common/money.ts';
import { plural } from '../common/plural.ts';
import { importSettlement } from '../reconciliation/settle.ts';
import { type CommandOf, readArgument, readableFile } from './command.ts';
import { staffCause, withStores } from './stores.ts';

export const command: CommandOf<'settle'> = async ({ confirm = false }, args) => {
  const path = readableFile(readArgument(args, 'Name one file'));
  return await withStores('settle', {}, async (context) => {
    const badRows: { line: number; fault: string }[] = [];
    const settled = await importSettlement(context, {
      file: createReadStream(path),
      isConfirmed: confirm,
      cause: staffCause(),
      onBadRow(row) {
        badRows.push(row);
        process.stderr.write(`line ${row.line} ${row.fault}\n`);
      },
    }).catch((error: unknown) => {
      const isInDoubt = error instanceof Refused && error.code === 'settlement_in_doubt';
      throw isInDoubt ? new Refused(error.code, `${error.message}, with --confirm`) : error;
    });
    const { isNew, kind, reference, rows, totalSen } = settled;
    const outcome = isNew ? 'recorded' : 'was recorded before';
    const text = `The ${kind} ${reference} of ${displaySen(totalSen)}, ${plural(rows, 'row')}: ${outcome}.`;
    return { data: { ...settled, badRows }, text };
  });
};
