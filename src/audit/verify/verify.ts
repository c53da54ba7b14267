/**
 * Verifies all there is: the log by its chains and seals, the read models by a fresh fold, and what must hold between
 * payments' outcomes, their deliveries and the journal. Changes nothing.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { isRefusal } from '../../postgres/error-codes.ts';
import { journalBalance } from '../../projections/journal/queries.ts';
import { projectionStatus } from '../../projections/runtime/checkpoints.ts';
import { describeFailure } from '../../projections/runtime/failures.ts';
import { sealedWithinMs } from '../seals/unsealed.ts';
import { type LogResult, verifyLog } from './log.ts';
import { verifyPayments } from './payments.ts';
import { verifyRows } from './rows.ts';
import { verifySeals } from './seals.ts';
import {
  type Checked,
  createViolations,
  type Fault,
  type FaultKind,
  type VerifyProgress,
  type Violations,
} from './violations.ts';

export type VerifyOptions = {
  eventStore: Pick<EventStore, 'subscribe' | 'load' | 'head'>;
  db: Knex;
  /** The database of `db`: a fresh fold needs connections of its own. */
  databaseUrl: string;
  /** Public keys as seals name them; with null any seal that its own key has signed is taken for the ledger's. */
  trusted: readonly string[] | null;
  clock: () => Date;
  log: Logger;
  runtime: Runtime;
  signal: AbortSignal;
};

export type VerifyReport = {
  checked: readonly Checked[];
  /** None: everything is as it was written. */
  faults: readonly Fault[];
  /** What the reader must know to judge the rest. */
  notes: readonly string[];
};

/** Throws what the signal was aborted with, EventStoreUnavailable, and the database's error. */
export async function verify(
  options: VerifyOptions,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  const { eventStore, db, trusted, clock, signal } = options;
  const violations = createViolations();
  const checked: Checked[] = [];
  const notes: string[] = [];
  const marks = await verifySeals(eventStore, trusted, violations);
  const log = await verifyLog({
    eventStore,
    marks,
    violations,
    signal,
    onProgress: (done) => onProgress({ step: 'events of the log', done }),
  });
  checked.push(
    { what: 'events, each with its hash and its place in its stream', count: log.events },
    { what: 'streams, each without gaps', count: log.streams },
    { what: 'seals, each with its signature and what it counted', count: log.seals.met() },
  );
  notes.push(...sealNotes(log, trusted, clock(), violations));
  if (!log.complete) {
    notes.push('The read models were not checked, since they are made from the whole log.');
    return { checked, faults: violations.all(), notes };
  }
  checked.push(...(await verifyRows(options, violations, onProgress)));
  notes.push(...(await standStillNotes(db)));
  const theRest = [
    { kind: 'the journal', what: 'The journal', check: () => verifyJournal(db, violations) },
    {
      kind: 'rows of payments',
      what: 'Receipts and deliveries',
      check: () => verifyOutcomes(options, violations, onProgress),
    },
  ] as const;
  for (const each of theRest) checked.push(...(await ifTablesAllow(each, violations)));
  return { checked, faults: violations.all(), notes };
}

function sealNotes(
  { seals }: LogResult,
  trusted: VerifyOptions['trusted'],
  now: Date,
  violations: Violations,
): string[] {
  const { events, since } = seals.unsealed();
  const uncovered = seals.uncovered();
  if (since && now.getTime() - since.getTime() > sealedWithinMs)
    violations.add('unsealed events', `The ${events} events since ${since.toISOString()} are not sealed`);
  return [
    ...(trusted ? [] : ['Whose key signed the seals was not checked: no public key was given.']),
    ...(events > 0 ? [`${events} events are not sealed yet: only their chains vouch for them.`] : []),
    ...(uncovered > 0
      ? [
          `${uncovered} events are of streams that their sealer did not know: only their chains vouch for them.`,
        ]
      : []),
  ];
}

async function standStillNotes(db: Knex): Promise<string[]> {
  const stopped = (await projectionStatus(db)).filter(({ fault }) => fault !== null);
  return stopped.map(({ name }) => `The projection ${name} stands still: what came after was not checked.`);
}

/** Tables that are gone or of another form are named among the rows; they do not keep the rest from being checked. */
async function ifTablesAllow(
  { kind, what, check }: { kind: FaultKind; what: string; check: () => Promise<Checked[]> },
  violations: Violations,
): Promise<Checked[]> {
  try {
    return await check();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    violations.add(kind, `${what} cannot be checked: ${describeFailure(error)}`);
    return [];
  }
}

async function verifyJournal(db: Knex, violations: Violations): Promise<Checked[]> {
  const { debitSen, creditSen, unbalanced } = await journalBalance(db);
  if (unbalanced > 0)
    violations.add('the journal', 'The journal has entries whose debits are not their credits', unbalanced);
  else if (debitSen !== creditSen)
    violations.add('the journal', `All debits are ${debitSen} sen, all credits ${creditSen}`);
  return [{ what: 'sen of debits against as many of credits', count: Number(debitSen) }];
}

async function verifyOutcomes(
  { db, clock, signal }: VerifyOptions,
  violations: Violations,
  onProgress: (progress: VerifyProgress) => void,
): Promise<Checked[]> {
  const { payments, deliveries } = await verifyPayments({
    db,
    now: clock(),
    violations,
    signal,
    onProgress: (done) => onProgress({ step: 'payments', done }),
  });
  return [
    { what: 'payments, each with a receipt if it is paid', count: payments },
    { what: 'deliveries, in order and not overdue', count: deliveries },
  ];
}
