/** `ledger export`: the payments of a span of time, for an auditor to take along. */
import { beginExport, type Export, ExportImpossible, readExportRequest } from '../audit/export/export.ts';
import { InvalidFields } from '../commands/fields.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, UsageError } from './command.ts';
import { checkOutput, writeOutput } from './output.ts';

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
    checkOutput(output);
    const config = loadRoleConfig();
    const log = createLog('warn', 'export');
    const db = connectPostgres({ url: config.databaseUrl, log });
    const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
    try {
      const begun = await beginExport(request, { eventStore, db });
      await writeOutput(begun.pieces, output);
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

function report({ totals }: Export): string {
  const { events, payments, checksum } = totals();
  const whole = `${payments} ${payments === 1 ? 'payment' : 'payments'}`;
  return checksum === ''
    ? `${whole}.`
    : `${whole} with ${events} events. Checksum of the last line: ${checksum}`;
}
