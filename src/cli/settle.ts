/** `ledger settle`: records what the gateway paid out and what was handed on to agencies. */
import { createReadStream } from 'node:fs';
import { displaySen } from '../kernel/money.ts';
import { importSettlement } from '../reconciliation/settle.ts';
import { type Command, flag, readArgument } from './command.ts';
import { print, staffCause, withStores } from './stores.ts';

const options = { confirm: flag } as const;

export const settle: Command<typeof options> = {
  summary: 'records a payout of the gateway, or what was handed on to agencies',
  usage: 'FILE [--confirm]',
  options,
  takesArguments: true,
  async run({ confirm = false }, args) {
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
  },
};
