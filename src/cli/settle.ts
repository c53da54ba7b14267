/** `ledger settle`: records what the gateway paid out and what was handed on to agencies. */
import { createReadStream } from 'node:fs';
import { displaySen } from '../common/money.ts';
import { importSettlement } from '../reconciliation/settle.ts';
import { type CommandOf, readArgument } from './command.ts';
import { print, staffCause, withStores } from './stores.ts';

export const settle: CommandOf<'settle'> = async ({ confirm = false }, args) => {
  const path = readArgument(args, 'Name one file');
  return await withStores('settle', {}, async (context) => {
    const { isNew, kind, reference, rows, totalSen } = await importSettlement(context, {
      file: createReadStream(path),
      isConfirmed: confirm,
      cause: staffCause(),
      onBadRow: ({ line, fault }) => print(`line ${line} ${fault}`),
    });
    const outcome = isNew ? 'recorded' : 'was recorded before';
    print(`The ${kind} ${reference} of ${displaySen(totalSen)}, ${rows} rows: ${outcome}.`);
    return 0;
  });
};
