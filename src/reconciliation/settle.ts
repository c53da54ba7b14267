/** Records payouts and remittances: from a file, whose charges are compared with the payments, or as staff enter them. */
import type { Knex } from 'knex';
import { Refused } from '../commands/decider.ts';
import { createExecute, loadHead } from '../commands/execute.ts';
import { faultOf, type RecordSettlement, settlementDecider } from '../commands/settlement.ts';
import type { Cause } from '../events/envelope.ts';
import type { Payment } from '../events/payment.ts';
import { attemptOf } from '../events/payment-result.ts';
import {
  type PayoutLine,
  type SettlementKind,
  type SettlementPart,
  settlementIdOf,
  settlementStream,
} from '../events/settlement.ts';
import { dayOf } from '../kernel/malaysian-time.ts';
import { displaySen, type Sen } from '../kernel/money.ts';
import { merchantsWithAccount } from '../projections/journal/queries.ts';
import { findTwin } from '../projections/journal/settlement-queries.ts';
import type { Verdict } from './compare.ts';
import { type ExportRecord, UnreadableExport } from './export-format.ts';
import { type Dependencies, type Import, reconcileStaged } from './reconcile.ts';
import { recogniseSettlement } from './settlement-file.ts';
import { stageExport } from './stage-export.ts';
import { openStagedRecords, type StagedRecords } from './staged-records.ts';
import type { Summary } from './summary.ts';

/** `isConfirmed`: staff know that it was reversed, or that another one of the day has the same total. */
type Task = Pick<Import, 'newCause'> & { isConfirmed: boolean };
type SettlementImport = Omit<Import, 'period' | 'madeAt' | 'onCompared'> & Task;

/** Of one event, and of one page of the file in memory. */
const linesInEvent = 1_000;

/**
 * Imports one file: all of it or nothing. The same file again changes nothing, and completes an interrupted import; for a
 * payout it also finds and clears discrepancies. Throws Refused, and what `reconcile` throws.
 */
export async function importSettlement(dependencies: Dependencies, task: SettlementImport) {
  const { db, runtime } = dependencies;
  const merchants = await merchantsWithAccount(db);
  const staged = openStagedRecords();
  try {
    const { format, ...file } = await stageExport(task.file, {
      staged,
      runtime,
      recognise: (header) => recogniseSettlement(header, merchants),
      onBadRow: task.onBadRow,
    });
    const { kind } = format;
    const head = format.head();
    if (file.badRows > 0)
      throw new UnreadableExport(`Nothing was imported: ${file.badRows} rows have faults`);
    if (!head) throw new UnreadableExport('The file has no rows');
    const at = runtime.now().toISOString();
    const settlement = { at, kind, ...head, file: { sha256: file.sha256, lines: file.rows } };
    let parts = totalsOf(kind, staged);
    refuseFault({ ...settlement, parts });
    const id = settlementIdOf(kind, head.reference);
    await refuseTwin(db, id, settlement, task);
    let summary: Summary | null = null;
    if (kind === 'payout') {
      if (!task.dryRun) await listLines(dependencies, { ...task, id, at, sha256: file.sha256 }, staged);
      const sums = createSums();
      summary = await reconcileStaged(
        dependencies,
        {
          ...task,
          period: { from: null, to: null },
          madeAt: new Date(`${head.settledOn}T00:00:00+08:00`).toISOString(),
          onCompared: (verdicts, payment) => addVerdicts(sums, verdicts, payment),
        },
        staged,
        { ...file, source: 'payout' },
      );
      parts = sums.all();
    }
    const isNew = task.dryRun ? false : await record(dependencies, id, { ...settlement, parts }, task);
    return { id, kind, ...head, rows: file.rows, isNew, summary };
  } finally {
    staged.close();
  }
}

/** Resolves to its id, and whether it is new. Throws Refused. */
export async function enterSettlement(
  dependencies: Dependencies,
  settlement: Omit<RecordSettlement['settlement'], 'at' | 'file'>,
  task: Task,
): Promise<{ id: string; isNew: boolean }> {
  const entered = { ...settlement, at: dependencies.runtime.now().toISOString(), file: null };
  const id = settlementIdOf(settlement.kind, settlement.reference);
  refuseFault(entered);
  await refuseTwin(dependencies.db, id, entered, task);
  return { id, isNew: await record(dependencies, id, entered, task) };
}

/** Throws Refused. */
export async function reverseSettlement(
  { eventStore, runtime }: Pick<Dependencies, 'eventStore' | 'runtime'>,
  id: string,
  note: string,
  cause: Cause,
): Promise<void> {
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const at = runtime.now().toISOString();
  await execute(settlementStream(id), { type: 'ReverseSettlement', at, note }, cause);
}

async function record(
  { eventStore }: Dependencies,
  id: string,
  settlement: RecordSettlement['settlement'],
  { isConfirmed, newCause }: Task,
): Promise<boolean> {
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const command = { type: 'RecordSettlement', settlement, isConfirmed } as const;
  return (await execute(settlementStream(id), command, newCause())).events.length > 0;
}

function refuseFault(settlement: RecordSettlement['settlement']): void {
  const fault = faultOf(settlement);
  if (fault) throw new Refused('invalid_settlement', fault);
}

/** The same money under two references is more likely than two payouts of one day with the same total. */
async function refuseTwin(
  db: Knex,
  id: string,
  settlement: { kind: SettlementKind; settledOn: string; totalSen: Sen },
  { isConfirmed }: Task,
): Promise<void> {
  const twin = isConfirmed ? null : await findTwin(db, id, settlement);
  if (twin)
    throw new Refused(
      'settlement_recorded',
      `${twin} of the same day has the same total, ${displaySen(settlement.totalSen)}: confirm that this is another one`,
    );
}

async function listLines(
  { eventStore }: Dependencies,
  { at, id, isConfirmed, newCause, sha256 }: Task & { at: string; id: string; sha256: string },
  staged: StagedRecords,
): Promise<void> {
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const stream = settlementStream(id);
  let head = await loadHead(eventStore, stream, settlementDecider);
  let from = 0;
  for (const records of pagesOf(staged)) {
    const lines = records.map(
      ({ amountSen, gatewayTransactionId, transactionId }): PayoutLine => ({
        transactionId,
        gatewayTransactionId,
        amountSen: amountSen ?? (0 as Sen),
      }),
    );
    const command = { type: 'ListPayoutLines', at, sha256, from, lines, isConfirmed } as const;
    head = await execute(stream, command, newCause(), { from: head });
    from += lines.length;
  }
}

function* pagesOf(staged: StagedRecords): Generator<ExportRecord[]> {
  let page = staged.recordsAfter(0, linesInEvent);
  for (; page.length > 0; page = staged.recordsAfter(page.at(-1)?.line ?? 0, linesInEvent)) yield page;
}

/** The parts of remittances; those of a payout as if all methods were unknown, to see whether they add up. */
function totalsOf(kind: SettlementKind, staged: StagedRecords): SettlementPart[] {
  const sums = createSums();
  for (const records of pagesOf(staged))
    for (const { amountSen, feeSen, merchantCode } of records) {
      sums.add(kind === 'payout' ? 'gateway:unknown' : `merchant:${merchantCode}`, null, amountSen ?? 0);
      sums.add('fees:unknown', null, feeSen);
    }
  return sums.all();
}

/** Settles what the ledger has: the account that the charge is in, and the day of its entry. */
function addVerdicts(sums: Sums, verdicts: readonly Verdict[], payment: Payment): void {
  const found = payment.status === 'none' ? null : payment;
  for (const { record, resultNo } of verdicts) {
    if (!record) continue;
    const result = resultNo === null ? undefined : found?.results[resultNo - 1];
    const attempt = found && attemptOf(found, result?.sellerOrderNo ?? record.sellerOrderNo);
    const method = result?.mode || attempt?.mode || record.mode || 'unknown';
    const openedOn = result?.outcome === 'succeeded' ? dayOf(result.at) : null;
    sums.add(`gateway:${method}`, openedOn, record.amountSen ?? 0);
    sums.add(`fees:${method}`, null, record.feeSen);
  }
}

type Sums = ReturnType<typeof createSums>;

/** Sums by account and day. Throws UnreadableExport when they outgrow what is stored. */
function createSums() {
  const parts = new Map<string, SettlementPart>();
  return {
    add(account: string, openedOn: string | null, sen: number): void {
      if (sen === 0) return;
      const key = `${account} ${openedOn}`;
      const amountSen = ((parts.get(key)?.amountSen ?? 0) + sen) as Sen;
      if (!Number.isSafeInteger(amountSen)) throw new UnreadableExport('The sum of the file is too large');
      parts.set(key, { account, openedOn, amountSen });
    },
    all: () => [...parts.values()],
  };
}
