/** `ledger export`: the payments of a range of time, for an auditor to keep. */
import { beginExport, detailOf, readExportRequest } from '../audit/export/export.ts';
import { InvalidFields } from '../commands/fields.ts';
import { plural } from '../common/plural.ts';
import { merchantCodeOf } from '../config/merchants.ts';
import { searchPayments } from '../projections/payments/search.ts';
import { recordToolAccess } from './access.ts';
import { asUsageError, type CommandOf, UsageError } from './command.ts';
import { type Context, withStores } from './stores.ts';

export const command: CommandOf<'export'> = async (
  { output: _, 'with-personal-data': isOpened = false, ...values },
  _args,
  write,
) => {
  const { merchantCode: named, ...asked } = readRequest({ ...values, opened: isOpened ? 'yes' : '' });
  const uses = named ? (['dataKeys', 'merchants'] as const) : (['dataKeys'] as const);
  return await withStores<'dataKeys' | 'merchants'>('export', { uses }, async (stores) => {
    const merchantCode = named && merchantCodeOf(stores.config.merchants, named);
    const request = { ...asked, merchantCode };
    const { pieces, totals } = await beginExport(request, stores);
    if (merchantCode !== null && !(await isMerchant(merchantCode, stores)))
      throw new UsageError(`No merchant has the code ${merchantCode}`);
    if (isOpened) await recordToolAccess(stores, { what: 'exportOpened', detail: detailOf(request) });
    await write(pieces);
    const { events, payments, plainAfterErasure, checksum } = totals();
    const rest = checksum === '' ? '.' : ` with ${events} events. Checksum of the last line: ${checksum}`;
    process.stderr.write(`${plural(payments, 'payment')}${rest}\n`);
    if (plainAfterErasure > 0)
      process.stderr.write(
        `${plainAfterErasure} of them were erased, but recorded by an earlier release: their personal data are in this file in plain text.\n`,
      );
    return 0;
  });
};

/**
 * An unknown code must not look like a merchant without payments. A merchant that is no longer configured has payments,
 * which are in the read model once an export can begin.
 */
async function isMerchant(merchantCode: string, { config, db }: Context<'dataKeys' | 'merchants'>) {
  if (config.merchants.has(merchantCode)) return true;
  return (await searchPayments(db, { merchantCode }, { limit: 1, after: null })).length > 0;
}

function readRequest(values: Parameters<typeof readExportRequest>[0]) {
  try {
    return readExportRequest(values, null);
  } catch (error) {
    if (error instanceof InvalidFields) throw asUsageError(error);
    throw error;
  }
}
