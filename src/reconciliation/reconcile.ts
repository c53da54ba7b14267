/**
 * Compares an export of the gateway or the registry with the payments' own streams, and keeps what differs as events.
 * It changes no payment: what the registry knows better, a requery brings in.
 */
import type { Knex } from 'knex';
import { createExecute, type Execute } from '../commands/execute.ts';
import { loadPayment } from '../commands/load-payment.ts';
import {
  discrepancyIdOf,
  type ReconciliationCommand,
  type ReportDiscrepancy,
  reconciliationDecider,
} from '../commands/reconciliation.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import { readReconciliationEvent } from '../events/codec.ts';
import type { Cause } from '../events/envelope.ts';
import { noPayment } from '../events/payment.ts';
import {
  type Difference,
  type DiscrepancyFound,
  type ReconciliationEvent,
  reconciliationStream,
} from '../events/reconciliation.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Runtime } from '../kernel/runtime.ts';
import {
  type DiscrepancyKey,
  findCharged,
  listDiscrepancies,
  type PaidKey,
} from '../projections/reconciliation/queries.ts';
import { compareRecords, type Verdict } from './compare.ts';
import type { BadRow } from './csv-rows.ts';
import { waitForReadModels } from './read-models.ts';
import { type AskedPeriod, isInScope, type Scope, scopeOf } from './scope.ts';
import { type StagedExport, stageExport } from './stage-export.ts';
import { openStagedRecords, type StagedRecords } from './staged-records.ts';
import { count, noTotals, type Summary } from './summary.ts';

export type Import = {
  file: AsyncIterable<Uint8Array>;
  period: AskedPeriod;
  /** Compares and reports, and appends nothing. */
  dryRun: boolean;
  /** How long the read models may take to have all that was written before. */
  waitMs: number;
  /** A new one for each command. */
  newCause: () => Cause;
  onBadRow: (row: BadRow) => void;
  /** Told of every difference that the file shows, whether it was known before or not. */
  onDifference: (id: string, difference: DiscrepancyFound) => void;
};

type Dependencies = {
  eventStore: Pick<EventStore, 'append' | 'load' | 'firstAfter'>;
  db: Knex;
  /** TRANSACTION_ID_KEY: the ids of differences are derived with it. */
  transactionIdKey: string;
  clock: () => Date;
  runtime: Runtime;
};

/** Streams that are read, and written, at once. */
const pageSize = 50;
/** A payment has at most 50 attempts. */
const maxRecordsOfPayment = 1_000;

/**
 * Imports one file. The same file again, one that overlaps it or another process with it at the same time adds nothing;
 * an import that was cut off is finished by importing the file again. Throws UnreadableExport, ReadModelBehind and
 * EventStoreUnavailable.
 */
export async function reconcile(dependencies: Dependencies, task: Import): Promise<Summary> {
  const staged = openStagedRecords();
  try {
    const file = await stageExport(task.file, staged, task.onBadRow);
    const at = dependencies.clock();
    await waitForReadModels(dependencies, { since: at, waitMs: task.waitMs });
    const run: Run = {
      ...dependencies,
      execute: createExecute({
        eventStore: dependencies.eventStore,
        decider: reconciliationDecider,
        read: readReconciliationEvent,
      }),
      task,
      staged,
      file,
      at: at.toISOString(),
      scope: scopeOf(task.period, staged),
      totals: { classes: noTotals(), badRows: file.badRows, opened: 0, vanished: 0 },
    };
    for await (const subjects of subjectsToCompare(run)) await comparePage(run, subjects);
    if (!task.dryRun) await settleVanished(run);
    return { source: file.source, rows: file.rows, ...run.scope, ...run.totals };
  } finally {
    staged.close();
  }
}

type Run = Dependencies & {
  execute: Execute<Difference | null, ReconciliationCommand, ReconciliationEvent>;
  task: Import;
  staged: StagedRecords;
  file: StagedExport;
  at: string;
  scope: Scope;
  /** Added to as the import goes on. */
  totals: Pick<Summary, 'classes' | 'badRows' | 'opened' | 'vanished'>;
};

/** A page at a time: what the file names, then the payments that it should hold, among them what it did name. */
async function* subjectsToCompare({ db, scope, staged }: Run): AsyncGenerator<readonly string[]> {
  let subjects = staged.subjectsAfter('', pageSize);
  for (; subjects.length > 0; subjects = staged.subjectsAfter(subjects.at(-1) ?? '', pageSize))
    yield subjects;

  const { merchantCodes, period } = scope;
  if (!period) return;
  for (const by of ['paid', 'inSuspense'] as const) {
    let after: PaidKey | null = null;
    do {
      const page: PaidKey[] = await findCharged(db, by, period, merchantCodes, { limit: pageSize, after });
      yield page.map(({ transactionId }) => transactionId);
      after = page.at(-1) ?? null;
    } while (after);
  }
}

/** Compares what no page before has named, all of it at once, and keeps what differs. */
async function comparePage(run: Run, subjects: readonly string[]): Promise<void> {
  const { staged, task, totals } = run;
  const fresh = subjects.filter((subject) => staged.markCompared(subject));
  const found = (await Promise.all(fresh.map((subject) => compareSubject(run, subject)))).flat();
  for (const { id, command } of found) {
    staged.markFound(id);
    task.onDifference(id, command.difference);
  }
  if (!task.dryRun) totals.opened += await give(run, found);
}

/** Counts the verdicts on one subject; resolves to the differences among them, each to be reported. */
async function compareSubject(run: Run, subject: string): Promise<Given<ReportDiscrepancy>[]> {
  const { eventStore, file, scope, staged, task, totals, transactionIdKey } = run;
  const payment = transactionIdPattern.test(subject) ? await loadPayment(eventStore, subject) : noPayment;
  const records = staged.recordsOf(subject, maxRecordsOfPayment);
  for (const line of staged.linesAfter(subject, maxRecordsOfPayment)) {
    totals.badRows += 1;
    task.onBadRow({ line, fault: `is one of more than ${maxRecordsOfPayment} of its transaction` });
  }
  const verdicts = compareRecords(records, payment, file.source).filter(
    (verdict) => verdict.class !== 'missingThere' || isInScope(verdict, scope),
  );
  staged.cover(subject, verdicts);
  return verdicts.flatMap((verdict) => {
    count(totals.classes, verdict);
    const difference = differenceOf(verdict, subject, run);
    if (!difference) return [];
    return {
      id: discrepancyIdOf(transactionIdKey, difference),
      command: { type: 'ReportDiscrepancy', difference },
    };
  });
}

/** The open differences of earlier imports that this file could show, and does not. */
async function settleVanished(run: Run): Promise<void> {
  const { at, db, file, staged, totals } = run;
  let after: DiscrepancyKey | null = null;
  do {
    const which = { state: 'open', source: file.source } as const;
    const page = await listDiscrepancies(db, which, { limit: pageSize, after });
    const gone = page
      .filter(({ id, difference }) => staged.isGone(id, difference))
      .map(({ id }) => ({ id, command: { type: 'SettleDiscrepancy' as const, at } }));
    totals.vanished += await give(run, gone);
    const last = page.at(-1);
    after = last ? { at: new Date(last.difference.at), id: last.id } : null;
  } while (after);
}

type Given<Command extends ReconciliationCommand> = { id: string; command: Command };

/** Gives all the commands at once; resolves to the number of events that they added. */
async function give(
  { execute, task }: Run,
  commands: readonly Given<ReconciliationCommand>[],
): Promise<number> {
  const executed = commands.map(({ id, command }) =>
    execute(reconciliationStream(id), command, task.newCause(), {
      creates: command.type === 'ReportDiscrepancy',
    }),
  );
  return (await Promise.all(executed)).reduce((sum, { events }) => sum + events.length, 0);
}

/** Null where there is none. */
function differenceOf(
  { class: verdictClass, record, ...what }: Verdict,
  subject: string,
  { at, file }: Pick<Run, 'at' | 'file'>,
): DiscrepancyFound | null {
  if (verdictClass === 'matched' || verdictClass === 'repeated') return null;
  return {
    at,
    kind: verdictClass,
    source: file.source,
    transactionId: record ? record.transactionId : subject,
    recordId: record?.recordId ?? '',
    ...what,
    file: { sha256: file.sha256, line: record?.line ?? null },
  };
}
