/** `ledger statement`: what an agency collected on a day, as CSV or PDF. */
import type { Knex } from 'knex';
import type { Config } from '../config/config.ts';
import { boundsOfDay } from '../kernel/malaysian-time.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { type Collection, collectedReceipts } from '../projections/journal/collection-queries.ts';
import { merchantsWithAccount } from '../projections/journal/queries.ts';
import { collectionCsv } from '../statements/csv.ts';
import { collectionPdf, TooManyReceipts } from '../statements/pdf.ts';
import { type Command, UsageError } from './command.ts';
import { onJournal, readAsOf } from './on-journal.ts';
import { checkOutput, writeOutput } from './output.ts';

export const statement: Command = {
  summary: 'the daily collection statement of an agency, now or as it was known at a time',
  usage: '--merchant CODE --day DAY [--known-at TIME] [--format csv|pdf] [--lang ms|en] [--output FILE]',
  options: {
    merchant: { type: 'string' },
    day: { type: 'string' },
    'known-at': { type: 'string' },
    format: { type: 'string' },
    lang: { type: 'string' },
    output: { type: 'string' },
  },
  async run({ merchant = '', day = '', format = 'csv', lang = 'ms', output, ...values }) {
    if (!boundsOfDay(day)) throw new UsageError('Which day? It reads 2026-11-20');
    if (format !== 'csv' && format !== 'pdf') throw new UsageError('--format is csv or pdf');
    if (lang !== 'ms' && lang !== 'en') throw new UsageError('--lang is ms or en');
    if (format === 'pdf' && output === undefined) throw new UsageError('Where to? A PDF needs --output');
    checkOutput(output);
    const asOf = readAsOf(values['known-at']);
    const collection = { merchantCode: merchant, day, asOf };
    return await onJournal({ asOf, whenBehind: 'refuse' }, async (db, config) => {
      const agency = await agencyOf(merchant, config, db);
      try {
        await writeOutput(await documentOf(db, { agency, collection, format, lang }), output);
        return 0;
      } catch (error) {
        if (!(error instanceof TooManyReceipts)) throw error;
        process.stderr.write(`${error.message}.\n`);
        return 1;
      }
    });
  },
};

/** Its name. A code that nobody has must not look like an agency that collected nothing. */
async function agencyOf(code: string, { merchants }: Config, db: Knex): Promise<string> {
  const name = merchants.get(code)?.name;
  if (name !== undefined) return name;
  if (!(await merchantsWithAccount(db)).includes(code))
    throw new UsageError(`No agency has the code ${code}`);
  return code;
}

async function documentOf(
  db: Knex,
  asked: { agency: string; collection: Collection; format: 'csv' | 'pdf'; lang: 'ms' | 'en' },
): Promise<AsyncIterable<string | Uint8Array>> {
  const { agency, collection, format, lang } = asked;
  const receipts = collectedReceipts(db, collection);
  if (format === 'csv') return collectionCsv(collection, receipts);
  return await collectionPdf({ agency, collection, runtime: systemRuntime }, receipts, lang);
}
