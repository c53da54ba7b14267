/**
 * Compares an export of the gateway or the registry with the payments' own streams, and keeps what differs as events.
 * It changes no payment: what the registry knows better, a requery brings in.
 */
import type { Knex } from 'knex';
import { createExecute } from '../commands/execute.ts';
import { loadPayment } from '../commands/load-payment.ts';
import { differenceIdOf, reconciliationDecider } from '../commands/reconciliation.ts';
import { transactionIdPattern } from '../commands/transaction-id.ts';
import type { Cause } from '../events/envelope.ts';
import { noPayment, type Payment } from '../events/payment.ts';
import { type DifferenceFound, reconciliationStream } from '../events/reconciliation.ts';
import { readReconciliationEvent } from '../events/recorded.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import {
  type DifferenceKey,
  findCharged,
  listDifferences,
  type PaidKey,
} from '../projections/reconciliation-queries.ts';
import type { TimeSpan } from '../projections/time-span.ts';
import { compareRecords, type Verdict } from './compare.ts';
import type { BadRow } from './csv-rows.ts';
import { type AskedPeriod, periodOf } from './period.ts';
import { waitForReadModels } from './read-models.ts';
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
  onDifference: (id: string, difference: DifferenceFound) => void;
};

type Dependencies = {
  eventStore: Pick<EventStore, 'append' | 'load' | 'firstAfter'>;
  db: Knex;
  /** TRANSACTION_ID_KEY: the ids of differences are derived with it. */
  transactionIdKey: string;
  clock: () => Date;
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
    const period = periodOf(task.period, staged.times());
    const codes = staged.merchantCodes();
    const merchantCodes = codes.length === 0 || codes.includes('') ? null : codes;
    const run = createRun({
      ...dependencies,
      task,
      staged,
      file,
      at: at.toISOString(),
      period,
      merchantCodes,
    });
    await run.compareFile();
    if (period) await run.findMissingThere(period);
    if (!task.dryRun) await run.settleVanished();
    const { source, rows } = file;
    return { source, rows, period, merchantCodes, ...run.totals };
  } finally {
    staged.close();
  }
}

type Run = Dependencies & {
  task: Import;
  staged: StagedRecords;
  file: StagedExport;
  at: string;
  period: TimeSpan | null;
  merchantCodes: readonly string[] | null;
};

/** What is compared at once: the payment that a subject of the file names, and all that was found. */
type Compared = { subject: string; verdicts: readonly Verdict[] };

function createRun({ at, db, eventStore, file, merchantCodes, period, staged, task, transactionIdKey }: Run) {
  const decider = reconciliationDecider;
  const execute = createExecute({ eventStore, decider, read: readReconciliationEvent });
  const totals = { classes: noTotals(), badRows: file.badRows, opened: 0, vanished: 0 };

  const load = async (subject: string): Promise<Payment> =>
    transactionIdPattern.test(subject) ? loadPayment(eventStore, subject) : noPayment;

  /** What a file does not hold is its fault only where it should. */
  function isAsked({ class: verdictClass, paidAt, merchantCode }: Verdict): boolean {
    if (verdictClass !== 'missingThere') return true;
    const paidMs = Date.parse(paidAt ?? '');
    const isWithin = period && paidMs >= Date.parse(period.start) && paidMs < Date.parse(period.end);
    return isWithin === true && (merchantCodes?.includes(merchantCode) ?? true);
  }

  async function compare(subject: string): Promise<Compared> {
    const records = staged.recordsOf(subject, maxRecordsOfPayment);
    for (const line of staged.linesAfter(subject, maxRecordsOfPayment)) {
      totals.badRows += 1;
      task.onBadRow({ line, fault: `is one of more than ${maxRecordsOfPayment} of its transaction` });
    }
    return { subject, verdicts: compareRecords(records, await load(subject), file.source).filter(isAsked) };
  }

  async function take(compared: readonly Compared[]): Promise<void> {
    const found: (readonly [id: string, difference: DifferenceFound])[] = [];
    for (const { subject, verdicts } of compared) {
      staged.cover(subject, verdicts);
      for (const verdict of verdicts) {
        count(totals.classes, verdict);
        const difference = differenceOf(verdict, subject, { at, file });
        if (difference) found.push([differenceIdOf(transactionIdKey, difference), difference]);
      }
    }
    for (const [id, difference] of found) {
      staged.markFound(id);
      task.onDifference(id, difference);
    }
    if (!task.dryRun) await Promise.all(found.map(report));
  }

  async function report([id, difference]: readonly [string, DifferenceFound]): Promise<void> {
    const command = { type: 'ReportDifference', difference } as const;
    const { events } = await execute(reconciliationStream(id), command, task.newCause(), { creates: true });
    totals.opened += events.length;
  }

  async function settle(id: string): Promise<void> {
    const { events } = await execute(
      reconciliationStream(id),
      { type: 'SettleDifference', at },
      task.newCause(),
    );
    totals.vanished += events.length;
  }

  return {
    totals,

    /** Every record of the file, a page of payments at a time. */
    async compareFile(): Promise<void> {
      let subjects = staged.subjectsAfter('', pageSize);
      for (; subjects.length > 0; subjects = staged.subjectsAfter(subjects.at(-1) ?? '', pageSize)) {
        const compared = await Promise.all(subjects.map(compare));
        for (const subject of subjects) staged.markCompared(subject);
        await take(compared);
      }
    },

    /** The payments of the span that no record of the file names. */
    async findMissingThere(span: TimeSpan): Promise<void> {
      for (const by of ['paid', 'setApart'] as const) {
        let after: PaidKey | null = null;
        do {
          const page: PaidKey[] = await findCharged(db, by, span, merchantCodes, { limit: pageSize, after });
          after = page.at(-1) ?? null;
          const unnamed = page.filter(({ transactionId }) => staged.markCompared(transactionId));
          await take(await Promise.all(unnamed.map(({ transactionId }) => compare(transactionId))));
        } while (after);
      }
    },

    /** The open differences of earlier imports that this file could show, and does not. */
    async settleVanished(): Promise<void> {
      let after: DifferenceKey | null = null;
      do {
        const limit = 10 * pageSize;
        const page = await listDifferences(db, { state: 'open', source: file.source }, { limit, after });
        const last = page.at(-1);
        after = last ? { at: new Date(last.difference.at), id: last.id } : null;
        for (const { id, difference } of page) if (staged.isGone(id, difference)) await settle(id);
      } while (after);
    },
  };
}

/** Null where there is none. */
function differenceOf(
  { class: verdictClass, record, ...what }: Verdict,
  subject: string,
  { at, file }: { at: string; file: StagedExport },
): DifferenceFound | null {
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
