/**
 * Compares the rows of every read model, and of the reactors' to-do lists, with rows freshly made from the log, and
 * reports those that differ.
 */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { isPostgresError, isRefusal } from '@ledger/postgres/error-codes.ts';
import { compareWithFresh, type RowDifference } from '@ledger/projections/rebuild/compare.ts';
import { shareDone } from '@ledger/projections/rebuild/progress.ts';
import { type RebuildOptions, RebuildRefused, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { describeFailure, ProjectionHalted } from '@ledger/projections/runtime/failures.ts';
import { allProjections } from '../../projections/all.ts';
import { createDeliveryList } from '../../to-do/delivery-list.ts';
import { requeries } from '../../to-do/requery-list.ts';
import type { VerifiedSoFar } from './resume.ts';
import { type Checked, createViolations, type VerifyProgress, type Violations } from './violations.ts';

/** For each projection; further violations are only counted. */
const maxDifferences = 1000;

/**
 * The number of rows compared in each projection. What is in `done` was compared before; `onDone` is called with what is
 * added to it. Throws the stores' errors.
 */
export async function verifyRows(
  stores: Omit<RebuildOptions, 'projection' | 'onProgress'> & { eventStore: Pick<EventStore, 'load'> },
  violations: Violations,
  onProgress: (progress: VerifyProgress) => void,
  { done, onDone }: { done: VerifiedSoFar['rows']; onDone: () => void },
): Promise<Checked[]> {
  for (const projection of [...allProjections, createDeliveryList(stores).projection, requeries]) {
    const { name } = projection;
    if (done[name]) continue;
    const found = createViolations();
    let checked: Checked | null = null;
    try {
      const { rows, differences, more } = await compareWithFresh({
        ...stores,
        projection,
        limit: maxDifferences,
        onProgress: (progress) =>
          onProgress({ step: `events for ${name}`, done: progress.events, share: shareDone(progress) }),
      });
      checked = { what: `rows of ${name} against a fresh fold`, count: rows };
      for (const each of differences) found.add(`rows of ${name}.${each.table}`, differenceText(each));
      if (more > 0) found.add(`rows of ${name}`, `${more} more differ`, more);
    } catch (error) {
      // While it is compared, a to-do list is locked, which not every account may do: the report then has a note.
      const mayNotLock = projection.isToDoList && isPostgresError(error, 'insufficientPrivilege');
      if (!mayNotLock) found.add(`rows of ${name}`, reasonNotCompared(error));
    }
    done[name] = { checked, violations: found.all() };
    onDone();
  }
  for (const each of Object.values(done)) violations.addAll(each.violations);
  return Object.values(done).flatMap(({ checked }) => checked ?? []);
}

/** Throws an error that is not about the log, the tables or another comparison. */
function reasonNotCompared(error: unknown): string {
  if (error instanceof RebuildRefused) return error.message;
  if (error instanceof KeysUnavailable || error instanceof RebuildUnderWay)
    return `They were not checked: ${error.message}`;
  if (isRefusal(error)) return `They cannot be compared: ${describeFailure(error)}`;
  if (!(error instanceof ProjectionHalted)) throw error;
  return `They cannot be made from the log: ${error.message}`;
}

const kindTexts = {
  missing: 'is missing',
  extra: 'exists, and no event leads to it',
  changed: 'is not what the events lead to',
} as const;

export function differenceText({ key, kind, columns }: RowDifference): string {
  const what = key === '' ? 'The table' : `The row ${key}`;
  return `${what} ${kindTexts[kind]}${columns.length > 0 ? ` (${columns.join(', ')})` : ''}`;
}
