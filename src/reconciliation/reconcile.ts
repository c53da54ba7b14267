/**
 * Compares an export of the gateway or the registry with the payments' own streams, and records the discrepancies. It
 * changes no payment: a requery is what fetches a newer status from the registry.
 */
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import { isDiskFull } from '@ledger/kernel/disk-full.ts';
import { pagesOf } from '@ledger/kernel/pages.ts';
import type { Listed } from '@ledger/postgres/listing.ts';
import { isReady } from '@ledger/projections/runtime/lag.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { createExecute, loadHead } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import {
  discrepancyIdOf,
  type ReconciliationCommand,
  reconciliationDecider,
  shownAsOf,
} from '../commands/reconciliation.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { asUnreadable, UnreadableEvent } from '../events/codec.ts';
import type { Cause } from '../events/envelope.ts';
import { noPayment, paymentStream } from '../events/payment.ts';
import {
  type Discrepancy,
  type DiscrepancyFound,
  type ExportSource,
  reconciliationStream,
} from '../events/reconciliation.ts';
import { payments } from '../projections/payments/projection.ts';
import { reconciliation } from '../projections/reconciliation/projection.ts';
import { findCharged, openDiscrepancies, type PaidKey } from '../projections/reconciliation/queries.ts';
import { compareRecords } from './compare.ts';
import { type MerchantCodeOf, recogniseExport, UnreadableExport } from './export-format.ts';
import { type AskedPeriod, type ExportScope, isInScope, scopeOf } from './scope.ts';
import { stageExport } from './stage-export.ts';
import { openStagedRecords, type StagedRecords } from './staged-records.ts';
import { count, noTotals, type Summary } from './summary.ts';

export type Import = {
  file: AsyncIterable<Uint8Array>;
  period: AskedPeriod;
  /** When the export was made, in UTC; null takes the time of its last payment, since it cannot be older. */
  madeAt: string | null;
  /** Compares and reports, and records nothing. */
  dryRun: boolean;
  /** How long the read models may take to catch up. */
  waitMs: number;
  /** Makes a new one for each command. */
  newCause: () => Cause;
  onBadRow: (row: BadRow) => void;
  /** Called for every discrepancy that the file shows, whether it was known before or not. */
  onDiscrepancy: (id: string, discrepancy: DiscrepancyFound) => void;
};

type Dependencies = Pick<Stores<'append' | 'load' | 'firstAfter'>, 'db' | 'eventStore' | 'runtime'> & {
  /** TRANSACTION_ID_KEY, from which the ids of discrepancies are derived. */
  transactionIdKey: string;
  merchantCodeOf: MerchantCodeOf;
};

/** A read model is behind the log, so that what it lacks would count as a discrepancy; or the disk for the rows is full. */
export class ImportImpossible extends Error {
  override name = 'ImportImpossible';
}

const pageSize = 50;
/** A payment has at most 50 attempts. */
const maxRecordsOfPayment = 1_000;
const tooMany = `is one of more than ${maxRecordsOfPayment} of its transaction`;
const unreadable = 'is of a payment whose events cannot be read';
const unseen = (id: string) => `begins a file without a readable row of ${id}, whose events cannot be read`;

/**
 * Imports one file. Importing it again, one that overlaps it, or another process importing it at the same time adds
 * nothing; importing it again also completes an interrupted import. Throws UnreadableExport, ImportImpossible and
 * EventStoreUnavailable.
 */
export async function reconcile(dependencies: Dependencies, task: Import): Promise<Summary> {
  const { runtime } = dependencies;
  const staged = openStagedRecords();
  try {
    const onBadRow = (row: BadRow, text: string) => {
      for (const word of text.match(/\w+/g) ?? [])
        if (transactionIdPattern.test(word)) staged.markUnreadable(word);
      task.onBadRow(row);
    };
    const recognise = (header: readonly string[]) => recogniseExport(header, dependencies.merchantCodeOf);
    const { format, ...file } = await stageExport(task.file, { staged, runtime, recognise, onBadRow });
    if (file.badRows === file.rows && (file.rows > 0 || !task.period.from || !task.period.to))
      throw new UnreadableExport('No row can be read: nothing was compared');
    const now = runtime.now();
    for (const projection of [payments, reconciliation])
      if (!(await isReady(projection, { until: now, waitMs: task.waitMs }, dependencies)))
        throw new ImportImpossible(
          `The projection ${projection.name} is behind: nothing was compared. Is the projections role running?`,
        );
    const run: Run = {
      ...dependencies,
      task,
      staged,
      file: { ...file, source: format.source },
      at: now.toISOString(),
      asOf: momentOf(task.madeAt, now.toISOString(), staged),
      scope: scopeOf(task.period, staged),
      totals: { classes: noTotals(), badRows: file.badRows, opened: 0, cleared: 0, keptFromNewer: 0 },
    };
    for await (const subjects of subjectsToCompare(run)) await comparePage(run, subjects);
    if (!task.dryRun) await clearGone(run);
    return { ...file, source: format.source, asOf: run.asOf, ...run.scope, ...run.totals };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new ImportImpossible(
      'The disk for temporary files (SQLITE_TMPDIR, or /var/tmp) is full: free space there, then import the same file again',
    );
  } finally {
    staged.close();
  }
}

/** Throws UnreadableExport if the file has later payments than it can have, or is said to come from the future. */
function momentOf(
  madeAt: string | null,
  now: string,
  { times }: Pick<StagedRecords, 'times'>,
): string | null {
  const last = times()?.last ?? null;
  if (madeAt === null) return last !== null && last > now ? now : last;
  if (madeAt > now) throw new UnreadableExport('The export was made in the future');
  if (last !== null && last > madeAt)
    throw new UnreadableExport('The file has payments after the time at which it was made');
  return madeAt;
}

type Run = Dependencies & {
  task: Import;
  staged: StagedRecords;
  file: { sha256: string; source: ExportSource };
  at: string;
  /** The moment that the file shows; null if nobody knows. */
  asOf: string | null;
  scope: ExportScope;
  /** Updated as the import proceeds. */
  totals: Pick<Summary, 'classes' | 'badRows' | 'opened' | 'cleared' | 'keptFromNewer'>;
};

/** One page at a time: the payments that the file names, then those that it should hold, some of which are in both. */
async function* subjectsToCompare({ db, scope, staged }: Run): AsyncGenerator<readonly string[]> {
  yield* pagesOf<string>(pageSize, (after) => staged.subjectsAfter(after ?? '', pageSize));
  const { merchantCodes, period } = scope;
  if (!period) return;
  for (const by of ['paid', 'inSuspense'] as const) {
    const load = (after: PaidKey | null) =>
      findCharged(db, by, period, merchantCodes, { limit: pageSize, after });
    for await (const page of pagesOf(pageSize, load)) yield page.map(({ transactionId }) => transactionId);
  }
}

/** Compares the subjects that were on no earlier page, all at once, and records the discrepancies. */
async function comparePage(run: Run, subjects: readonly string[]): Promise<void> {
  const { staged, task, totals, transactionIdKey } = run;
  const fresh = subjects.filter((subject) => staged.markCompared(subject));
  const found = (await Promise.all(fresh.map((subject) => compareSubject(run, subject)))).flat();
  const reports = found.map((discrepancy) => {
    const id = discrepancyIdOf(transactionIdKey, discrepancy);
    staged.markFound(id);
    task.onDiscrepancy(id, discrepancy);
    return { id, command: { type: 'ReportDiscrepancy' as const, discrepancy } };
  });
  if (task.dryRun) return;
  const recorded = await executeAll(run, reports);
  // One that was open before keeps the time at which it was found.
  totals.opened += recorded.filter(({ state }) => state?.at === run.at).length;
}

/** Counts the verdicts on one subject; resolves to its discrepancies. */
async function compareSubject(run: Run, subject: string): Promise<DiscrepancyFound[]> {
  const { asOf, at, eventStore, file, scope, staged, task, totals } = run;
  const head = transactionIdPattern.test(subject)
    ? await loadHead(eventStore, paymentStream(subject), paymentDecider).catch(asUnreadable)
    : { state: noPayment };
  const isUnreadable = head instanceof UnreadableEvent;
  const records = staged.recordsOf(subject, maxRecordsOfPayment);
  const lines = staged.linesAfter(subject, isUnreadable ? 0 : maxRecordsOfPayment);
  const faults = lines.map((line) => ({ line, fault: isUnreadable ? unreadable : tooMany }));
  if (isUnreadable && lines.length === 0) faults.push({ line: 1, fault: unseen(subject) });
  totals.badRows += faults.length;
  for (const fault of faults) task.onBadRow(fault);
  if (isUnreadable) return [];
  // An unreadable row may be the one that seems to be missing.
  const isIncomplete = staged.isUnreadable(subject);
  const verdicts = compareRecords(records, head.state, file.source).filter(
    (verdict) => verdict.class !== 'missingThere' || (!isIncomplete && isInScope(verdict, scope)),
  );
  staged.cover(subject, verdicts);
  for (const verdict of verdicts) count(totals.classes, verdict);
  return verdicts.flatMap(({ class: kind, record, ...sides }) =>
    kind === 'matched' || kind === 'repeated'
      ? []
      : {
          at,
          kind,
          source: file.source,
          transactionId: record ? record.transactionId : subject,
          recordId: record?.recordId ?? '',
          ...sides,
          file: { sha256: file.sha256, line: record?.line ?? null },
          asOf,
        },
  );
}

/** Clears the open discrepancies of earlier imports that this file covers but does not show, unless a newer one did. */
async function clearGone(run: Run): Promise<void> {
  const { asOf, at, db, file, staged, totals } = run;
  const load = (after: Listed<{ id: string; difference: Discrepancy }> | null) =>
    openDiscrepancies(db, file.source, { limit: pageSize, after });
  for await (const page of pagesOf(pageSize, load)) {
    const gone = page.filter(({ id, difference }) => staged.isGone(id, difference));
    const cleared = gone.flatMap(({ id, difference }) =>
      asOf === null || asOf < shownAsOf(difference)
        ? []
        : { id, command: { type: 'ClearDiscrepancy' as const, at, asOf } },
    );
    totals.cleared += (await executeAll(run, cleared)).length;
    totals.keptFromNewer += gone.length - cleared.length;
  }
}

/** Executes the commands in parallel; resolves to the outcomes of those that added an event. */
async function executeAll(
  { eventStore, task }: Run,
  commands: readonly { id: string; command: ReconciliationCommand }[],
) {
  const execute = createExecute({ eventStore, decider: reconciliationDecider });
  const executed = commands.map(({ id, command }) =>
    execute(reconciliationStream(id), command, task.newCause(), {
      creates: command.type === 'ReportDiscrepancy',
    }),
  );
  return (await Promise.all(executed)).filter(({ events }) => events.length > 0);
}
