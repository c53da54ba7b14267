/** `ledger export`: the payments of a span of time, for an auditor to take along. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { beginExport, type Export, ExportImpossible, readExportRequest } from '../audit/export.ts';
import { InvalidFields } from '../commands/fields.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../log.ts';
import { connectDatabase } from '../projections/database.ts';
import { type Command, keepFilesPrivate, UsageError } from './command.ts';
import { loadRoleConfig } from './role-config.ts';

export const exportPayments: Command = {
  summary: 'the payments of a span of time: all their events as JSON lines, or a CSV row each',
  usage: '--from TIME --to TIME [--merchant CODE] [--format jsonl|csv] [--output FILE]',
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    merchant: { type: 'string' },
    format: { type: 'string' },
    output: { type: 'string' },
  },
  async run(values) {
    const request = readRequest(values);
    const { output } = values;
    if (output !== undefined && existsSync(output))
      throw new UsageError(`${output} is there already and is not written over`);
    const config = loadRoleConfig();
    const log = createLog('warn', 'export');
    const db = connectDatabase({ url: config.databaseUrl, log });
    const eventStore = connectEventStore({ url: config.esdbUrl, log });
    try {
      const begun = await beginExport(request, { eventStore, db });
      await (output === undefined
        ? pipeline(begun.pieces, process.stdout, { end: false })
        : writeWhole(begun, output));
      process.stderr.write(`${report(begun)}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof ExportImpossible)) throw error;
      process.stderr.write(`${error.message}.\n`);
      return 1;
    } finally {
      await Promise.all([eventStore.close(), db.destroy()]);
    }
  },
};

function readRequest(values: Parameters<typeof readExportRequest>[0]) {
  try {
    return readExportRequest(values);
  } catch (error) {
    if (error instanceof InvalidFields) throw new UsageError(`--${error.message}`);
    throw error;
  }
}

/**
 * Beside the file first, which takes its name once all of it is on the disk: what was interrupted is never taken for
 * the whole. For the eyes of this account alone.
 */
async function writeWhole({ pieces }: Export, path: string): Promise<void> {
  keepFilesPrivate();
  const beside = `${path}.${process.pid}.part`;
  const file = await open(beside, 'wx');
  try {
    await pipeline(pieces, file.createWriteStream({ flush: true }));
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

function report({ totals }: Export): string {
  const { events, payments, checksum } = totals();
  const whole = `${payments} ${payments === 1 ? 'payment' : 'payments'}`;
  return checksum === ''
    ? `${whole}.`
    : `${whole} with ${events} events. Checksum of the last line: ${checksum}`;
}
