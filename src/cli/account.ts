/** `ledger account`: what was posted to an account, with its balance after each line. */
import { boundsOfDay } from '../kernel/malaysian-time.ts';
import { accountPages, accountSums } from '../projections/journal/queries.ts';
import { accountCsv } from '../statements/account-csv.ts';
import { type Command, UsageError } from './command.ts';
import { onJournal, readAsOf } from './on-journal.ts';
import { checkOutput, writeOutput } from './output.ts';

export const account: Command = {
  summary: 'the statement of an account, such as merchant:demo-app, as CSV',
  usage: '<account> --from DAY --to DAY [--output FILE]',
  options: { from: { type: 'string' }, to: { type: 'string' }, output: { type: 'string' } },
  takesArguments: true,
  async run({ from = '', to = '', output }, [name = '', ...more]) {
    if (name === '' || more.length > 0)
      throw new UsageError('Name one account; `ledger balances` lists them');
    if (!boundsOfDay(from) || !boundsOfDay(to)) throw new UsageError('A day reads 2026-11-20');
    if (from > to) throw new UsageError('--from comes before --to');
    checkOutput(output);
    return await onJournal({ asOf: readAsOf(to), whenBehind: 'refuse' }, async (db) => {
      const { debitSen, creditSen } = await accountSums(db, name, new Date());
      if (debitSen === 0n && creditSen === 0n) throw new UsageError(`Nothing was ever posted to ${name}`);
      await writeOutput(accountCsv(name, accountPages(db, { account: name, from, to })), output);
      return 0;
    });
  },
};
