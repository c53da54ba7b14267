/** `ledger account`: what was posted to an account, with its balance after each line. */
import { accountPages, accountSums } from '../projections/journal/queries.ts';
import { accountLines } from '../statements/csv.ts';
import { type CommandOf, readArgument, readAsOf, readDay, UsageError } from './command.ts';
import { withJournal } from './stores.ts';

export const command: CommandOf<'account'> = async ({ json, output: _, ...days }, args, write) => {
  const name = readArgument(args, 'Name one account; `ledger balances` lists them');
  const [from, to] = [readDay('from', days.from), readDay('to', days.to)];
  if (from > to) throw new UsageError('--from must not be after --to');
  return await withJournal({ asOf: readAsOf('to', to), whenBehind: 'refuse' }, async ({ db, runtime }) => {
    const { debitSen, creditSen } = await accountSums(db, name, runtime.now());
    if (debitSen === 0n && creditSen === 0n) throw new UsageError(`Nothing was ever posted to ${name}`);
    const pages = accountPages(db, { account: name, from, to });
    return await write(accountLines(name, pages, json ? 'json' : 'csv'));
  });
};
