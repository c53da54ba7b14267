/** Reads an export into the staged records, row by row. A row that cannot be read is reported, and the next one is read. */
import { createHash } from 'node:crypto';
import { type BadRow, readCsv } from '@ledger/kernel/csv-rows.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { UnreadableExport } from './export-format.ts';

const maxRows = 1_000_000;
const maxBytes = 512 * 1024 * 1024;
const batchSize = 500;
const pieceBytes = 16 * 1024;

type Format<Row> = { readRow(line: number, cells: readonly string[]): Row | string };

/** `recognise` reads the header. Throws UnreadableExport when the file is not an export, is empty or is too large. */
export async function stageExport<Row extends object, Known extends Format<Row>>(
  file: AsyncIterable<Uint8Array>,
  reading: {
    staged: { add(rows: readonly Row[]): void };
    recognise: (header: readonly string[]) => Known;
    runtime: Pick<Runtime, 'yieldToIo'>;
    onBadRow: (row: BadRow, text: string) => void;
  },
) {
  const { onBadRow, recognise, runtime, staged } = reading;
  const hash = createHash('sha256');
  let format: Known | null = null;
  let rows = 0;
  let badRows = 0;
  let batch: Row[] = [];
  for await (const row of readCsv(inPieces(file, hash, runtime))) {
    if (!format) {
      if (!('cells' in row)) throw new UnreadableExport('The first row is not a header');
      format = recognise(row.cells);
      continue;
    }
    rows += 1;
    if (rows > maxRows)
      throw new UnreadableExport(`The file has more than ${maxRows} rows: split it and import the parts`);
    const record = 'cells' in row ? format.readRow(row.line, row.cells) : row.fault;
    if (typeof record === 'string') {
      badRows += 1;
      onBadRow({ line: row.line, fault: record }, 'cells' in row ? row.cells.join() : row.text);
    } else if (batch.push(record) >= batchSize) {
      staged.add(batch);
      batch = [];
    }
  }
  if (!format) throw new UnreadableExport('The file is empty');
  staged.add(batch);
  return { format, sha256: hash.digest('hex'), rows, badRows };
}

/** Splits an upload, which arrives in one piece, and pauses after each part, so that other requests are answered. */
async function* inPieces(
  file: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  runtime: Pick<Runtime, 'yieldToIo'>,
) {
  let bytes = 0;
  for await (const chunk of file) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new UnreadableExport(
        `The file is larger than ${maxBytes / 1024 / 1024} MiB: split it and import the parts`,
      );
    hash.update(chunk);
    for (let start = 0; start < chunk.length; start += pieceBytes) {
      yield chunk.subarray(start, start + pieceBytes);
      await runtime.yieldToIo();
    }
  }
}
