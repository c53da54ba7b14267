/** `ledger verify`: whether everything is as it was written; or, with --file, whether an export is. */
import { readFileSync } from 'node:fs';
import { publicKeysIn, sealKeyOf } from '../audit/seals/key.ts';
import { verifyFile } from '../audit/verify/file.ts';
import { type VerifyReport, verify as verifyAll } from '../audit/verify/verify.ts';
import { connectEventStore } from '../eventstore/client.ts';
import { createLog } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { longestStatementMs } from '../projections/rebuild/rebuild.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, UsageError } from './command.ts';
import { openProgressLine } from './progress-line.ts';

export const verify: Command = {
  summary:
    'whether the log, its seals and all that is made from it are as they were written; or whether an export is',
  usage: '[--public-key FILE] | --file EXPORT',
  options: { file: { type: 'string' }, 'public-key': { type: 'string' } },
  async run({ file, 'public-key': publicKey }) {
    if (file !== undefined && publicKey !== undefined)
      throw new UsageError('An export has no seals: --public-key is for the log');
    if (file !== undefined) return await verifyExport(file);
    const report = await verifyStores(publicKey === undefined ? null : keysOf(publicKey));
    process.stdout.write(`${reportText(report)}\n`);
    return report.faults.length === 0 ? 0 : 1;
  },
};

function keysOf(file: string): string[] {
  try {
    return publicKeysIn(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** By the configured key where none was given; where there is none either the report says so. */
async function verifyStores(given: readonly string[] | null): Promise<VerifyReport> {
  const config = loadRoleConfig();
  const log = createLog('warn', 'verify');
  const eventStore = connectEventStore({ url: config.esdbUrl, log, runtime: systemRuntime });
  const db = connectPostgres({ url: config.databaseUrl, log, longestQueryMs: longestStatementMs });
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('Interrupted')));
  const progress = openProgressLine();
  try {
    return await verifyAll(
      {
        eventStore,
        db,
        databaseUrl: config.databaseUrl,
        trusted: given ?? (config.sealKey === '' ? null : [sealKeyOf(config.sealKey).publicKey]),
        clock: () => new Date(),
        log,
        signal: interrupted.signal,
      },
      ({ step, done }) => progress.show(() => `${done.toLocaleString('en')} ${step}`),
    );
  } finally {
    progress.end();
    await Promise.all([eventStore.close(), db.destroy()]);
  }
}

/** What was checked, a line each; then what is to be known of it; then the first fault of each kind. */
export function reportText({ checked, faults, notes }: VerifyReport): string {
  const width = Math.max(...checked.map(({ count }) => count.toLocaleString('en').length));
  const lines = checked.map(({ what, count }) => `${count.toLocaleString('en').padStart(width)}  ${what}`);
  const found = faults.map(({ kind, count, first }) => `FAULT ${kind} (${count}): ${first}.`);
  const verdict = faults.length === 0 ? 'Everything that was checked is as it was written.' : null;
  return [...lines, '', ...notes, ...found, ...(verdict ? [verdict] : [])].join('\n');
}

async function verifyExport(file: string): Promise<number> {
  const { fault, events, payments, checksum } = await verifyFile(file);
  if (fault) {
    const event = fault.stream === null ? '' : `, ${fault.stream} revision ${fault.revision}`;
    process.stdout.write(`FAULT line ${fault.line}${event}: ${fault.reason}.\n`);
    return 1;
  }
  process.stdout.write(
    `${events.toLocaleString('en')} events of ${payments.toLocaleString('en')} payments are as they were written.\nChecksum ${checksum}\n`,
  );
  return 0;
}
