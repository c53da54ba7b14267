/** Holds the rows of every read model against rows freshly made from the log, and says in words how they differ. */
import { isRefusal } from '../../postgres/error-codes.ts';
import { allProjections } from '../../projections/all.ts';
import { compareWithFresh, type RowDifference } from '../../projections/rebuild/compare.ts';
import { type RebuildOptions, RebuildRefused, RebuildUnderWay } from '../../projections/rebuild/rebuild.ts';
import { describeFailure, ProjectionHalted } from '../../projections/runtime/failures.ts';
import type { Checked, VerifyProgress, Violations } from './violations.ts';

/** Of these the first in each table is named; the rest are counted. */
const differencesShown = 1000;

/** Of each projection, how many rows were held against a fresh fold. Throws the stores' errors. */
export async function verifyRows(
  { eventStore, db, databaseUrl, log, runtime, signal }: Omit<RebuildOptions, 'projection' | 'onProgress'>,
  violations: Violations,
  onProgress: (progress: VerifyProgress) => void,
): Promise<Checked[]> {
  const checked: Checked[] = [];
  for (const projection of allProjections) {
    const { name } = projection;
    try {
      const { rows, differences, more } = await compareWithFresh({
        projection,
        eventStore,
        db,
        databaseUrl,
        log,
        runtime,
        signal,
        limit: differencesShown,
        onProgress: ({ events }) => onProgress({ step: `events for ${name}`, done: events }),
      });
      checked.push({ what: `rows of ${name} against a fresh fold`, count: rows });
      for (const it of differences) violations.add(`rows of ${name}.${it.table}`, discrepancyText(it));
      if (more > 0) violations.add(`rows of ${name}`, `${more} more differ`, more);
    } catch (error) {
      violations.add(`rows of ${name}`, whyNotCompared(error));
    }
  }
  return checked;
}

/** In words, where it is the log, the tables or another comparison that stands in the way; throws any other error. */
function whyNotCompared(error: unknown): string {
  if (error instanceof RebuildRefused) return error.message;
  if (error instanceof RebuildUnderWay) return `They were not checked: ${error.message}`;
  if (isRefusal(error)) return `They cannot be compared: ${describeFailure(error)}`;
  if (!(error instanceof ProjectionHalted)) throw error;
  const { event } = error.fault;
  const place = event ? `, at ${event.stream} revision ${event.revision}` : '';
  return `They cannot be made from the log: ${error.message}${place}`;
}

const kindTexts = {
  missing: 'is missing',
  extra: 'is there, and no event leads to it',
  changed: 'is not what the events lead to',
} as const;

function discrepancyText({ key, kind, columns }: RowDifference): string {
  // Without a key it is the table as a whole.
  const what = key === '' ? 'The table' : `The row ${key}`;
  return `${what} ${kindTexts[kind]}${columns.length > 0 ? ` (${columns.join(', ')})` : ''}`;
}
