/** At the end: that an export of all payments is whole, as an auditor without any store sees it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import { beginExport, readExportRequest } from '../../../src/audit/export/export.ts';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import type { Report } from '../violations.ts';
import type { LogCheck } from './log.ts';

/** Payments are requested within these days. */
const fields = { from: '2026-11-19', to: '2027-12-31', format: 'jsonl' };

/** To be called in a process that has the stores. */
export async function checkExport(
  stores: Parameters<typeof beginExport>[1],
  { log, trusted, report }: { log: LogCheck; trusted: readonly KeyTerm[] | null; report: Report },
): Promise<void> {
  const exported = await beginExport(readExportRequest(fields, null), stores);
  const text = (await Array.fromAsync(exported.pieces)).join('');
  for (const [id, { state, isUnreadable }] of log.payments)
    if (state.status !== 'none' && !isUnreadable && !text.includes(`"${paymentStream(id)}"`))
      report('export-wrong', id, 'An export of all payments lacks it');
  const folder = await mkdtemp(join(tmpdir(), 'ledger-simulation-'));
  const file = join(folder, 'export.jsonl');
  await writeFile(file, text);
  const { violation } = await verifyFile(file, trusted);
  await rm(folder, { recursive: true });
  if (violation)
    report(
      'export-wrong',
      violation.stream ?? 'file',
      `Line ${violation.line} of ${text.split('\n').length}: ${violation.reason}`,
    );
}
