/** Reads an export into the staged records, row by row: what cannot be read is reported, and keeps nothing from being read. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ExportSource } from '../events/reconciliation.ts';
import { type BadRow, readCsv } from './csv-rows.ts';
import { type ExportFormat, type ExportRecord, recogniseExport, UnreadableExport } from './export-format.ts';
import type { StagedRecords } from './staged-records.ts';

const maxRows = 1_000_000;
const maxBytes = 512 * 1024 * 1024;
/** Records that are kept in one transaction. */
const batchSize = 500;
const pieceBytes = 16 * 1024;

export type StagedExport = { source: ExportSource; sha256: string; rows: number; badRows: number };

/** Throws UnreadableExport when it is none, is empty or is larger than that. */
export async function stageExport(
  file: AsyncIterable<Uint8Array>,
  staged: Pick<StagedRecords, 'add'>,
  onBadRow: (row: BadRow) => void,
): Promise<StagedExport> {
  const hash = createHash('sha256');
  let format: ExportFormat | null = null;
  let rows = 0;
  let badRows = 0;
  let batch: ExportRecord[] = [];
  const flush = () => {
    staged.add(batch);
    batch = [];
  };
  for await (const row of readCsv(measured(file, hash))) {
    if (!format) {
      if (!('cells' in row)) throw new UnreadableExport('The first row is no header');
      format = recogniseExport(row.cells);
      continue;
    }
    rows += 1;
    if (rows > maxRows)
      throw new UnreadableExport(`The file has more than ${maxRows} rows: import it in parts`);
    const record = 'cells' in row ? format.readRow(row.line, row.cells) : row.fault;
    if (typeof record === 'string') {
      badRows += 1;
      onBadRow({ line: row.line, fault: record });
    } else if (batch.push(record) >= batchSize) flush();
  }
  if (!format) throw new UnreadableExport('The file is empty');
  flush();
  return { source: format.source, sha256: hash.digest('hex'), rows, badRows };
}

/** In small pieces, since an upload comes as one. After each others have their turn: the service answers payers meanwhile. */
async function* measured(file: AsyncIterable<Uint8Array>, hash: ReturnType<typeof createHash>) {
  let bytes = 0;
  for await (const chunk of file) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new UnreadableExport(`The file is larger than ${maxBytes / 1024 / 1024} MiB: import it in parts`);
    hash.update(chunk);
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      yield chunk.subarray(start, start + pieceBytes);
      await setImmediate();
    }
  }
}
