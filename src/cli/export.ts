/** `ledger export`: the payments of a range of time, for an auditor to keep. */
import { beginExport, readExportRequest } from '../audit/export/export.ts';
import { plural } from '../audit/history/text.ts';
import { InvalidFields } from '../commands/fields.ts';
import { codeOf } from '../config/merchants.ts';
import { recordToolAccess } from './access.ts';
import { type CommandOf, UsageError } from './command.ts';
import { withStores } from './stores.ts';

export const command: CommandOf<'export'> = async (
  { output: _, 'with-personal-data': isOpened = false, ...values },
  _args,
  write,
) => {
  const { merchantCode: named, ...asked } = readRequest({ ...values, opened: isOpened ? 'yes' : '' });
  const uses = named ? (['dataKeys', 'merchants'] as const) : (['dataKeys'] as const);
  return await withStores<'dataKeys' | 'merchants'>('export', { uses }, async (stores) => {
    const request = { ...asked, merchantCode: named && codeOf(stores.config.merchants, named) };
    const { pieces, totals } = await beginExport(request, stores);
    if (isOpened) {
      const detail = `${request.span.start} to ${request.span.end}`;
      await recordToolAccess(stores, { what: 'exportOpened', detail });
    }
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

function readRequest(values: Parameters<typeof readExportRequest>[0]) {
  try {
    return readExportRequest(values, null);
  } catch (error) {
    if (error instanceof InvalidFields) throw new UsageError(`--${error.message}`);
    throw error;
  }
}
