/** `ledger statement`: what an agency collected on a day, as CSV, JSON lines or PDF. */
import { merchantCodeOf } from '../config/merchants.ts';
import { collectedReceipts } from '../projections/journal/collection-queries.ts';
import { merchantsWithAccount } from '../projections/journal/queries.ts';
import { collectionLines } from '../statements/csv.ts';
import { gatherReceipts } from '../statements/document.ts';
import { collectionPdf } from '../statements/pdf.ts';
import { type CommandOf, readAsOf, readChoice, readDay, UsageError } from './command.ts';
import { withJournal } from './stores.ts';

export const command: CommandOf<'statement'> = async (
  { json, merchant = '', output, ...values },
  _args,
  write,
) => {
  const day = readDay('day', values.day);
  const format = readChoice('format', values.format, ['csv', 'pdf']);
  const lang = readChoice('lang', values.lang, ['ms', 'en']);
  if (format === 'pdf' && json)
    throw new UsageError('--json is for the lines of the statement, not for its PDF');
  if (format === 'pdf' && output === undefined) throw new UsageError('--format pdf needs --output');
  const knownAt = readAsOf('known-at', values['known-at']);
  return await withJournal({ asOf: knownAt, whenBehind: 'refuse' }, async ({ asOf, config, db, runtime }) => {
    const merchantCode = merchantCodeOf(config.merchants, merchant);
    const collection = { merchantCode, day, asOf };
    const name = config.merchants.get(merchantCode)?.name;
    // An unknown code must not look like an agency that collected nothing.
    if (name === undefined && !(await merchantsWithAccount(db)).includes(merchantCode))
      throw new UsageError(`No agency has the code ${merchantCode}`);
    const receipts = collectedReceipts(db, collection);
    const pieces =
      format === 'csv'
        ? collectionLines(collection, receipts, json ? 'json' : 'csv')
        : collectionPdf({
            agency: name ?? merchantCode,
            collection,
            receipts: await gatherReceipts(receipts),
            printedAt: runtime.now(),
            lang,
          });
    return await write(pieces);
  });
};
