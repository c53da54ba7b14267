/**
 * Verifies everything: the log by its chains and seals, the read models by a fresh fold, and the rules between payments,
 * their deliveries and the journal. Changes nothing.
 */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { positionText } from '@ledger/event-store/position.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { isRefusal } from '@ledger/postgres/error-codes.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { describeFailure } from '@ledger/projections/runtime/failures.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import { type Checkpoint, lackOfWitnesses, type Witnesses } from '@ledger/transparency-log/note.ts';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { sealsStream } from '../../events/seals.ts';
import { journalBalance } from '../../projections/journal/queries.ts';
import { openSharedNumbers } from '../../projections/journal/shared-number-queries.ts';
import { check } from '../background-check/check.ts';
import { lastEventOf } from '../seals/find-seals.ts';
import { sealedWithinMs, sealingRefused } from '../seals/sealing-status.ts';
import { readSignedSeal } from '../seals/stored-seals.ts';
import { type Acknowledgements, loadAcknowledgements } from './acknowledgements.ts';
import { type LogResult, type VerifiedUntil, verifyLog } from './log.ts';
import { verifyPayments } from './payment-rules.ts';
import { verifyRows } from './read-models.ts';
import type { progressFile, VerifiedSoFar } from './resume.ts';
import { type SealMark, verifySeals } from './seals.ts';
import {
  type Checked,
  createViolations,
  placeText,
  type VerifyProgress,
  type Violations,
} from './violations.ts';

export type VerifyDependencies = {
  eventStore: Pick<EventStore, 'subscribe' | 'load' | 'loadLast' | 'head'>;
  db: Knex;
  /** The database of `db`: a fresh fold needs connections of its own. */
  databaseUrl: string;
  /** Null when there is no key to check by, so that any signer is trusted. */
  trusted: readonly KeyTerm[] | null;
  /** The log up to this checkpoint was verified before; null to verify all of it. */
  since?: Checkpoint | null;
  /** What an interrupted run had verified, with these keys, and where to keep what this one has. */
  progress?: Pick<ReturnType<typeof progressFile>, 'load' | 'save'> | null;
  /** How many of these must have signed the last seal; null to ask for none. */
  witnesses?: Witnesses | null;
  /** Whether it is a violation if rows cannot be compared: otherwise a note says so. */
  demandsRows?: boolean;
  /** Null, and an account that only reads: rows are not compared with fresh ones. */
  personalData: PersonalDataReader | null;
  runtime: Runtime;
  log: Logger;
  signal: AbortSignal;
};

export type VerifyReport = Awaited<ReturnType<typeof verify>>;

/**
 * The notes say what was not checked, or only within limits. Throws the signal's reason, EventStoreUnavailable, and the
 * database's error.
 */
export async function verify(
  dependencies: VerifyDependencies,
  onProgress: (progress: VerifyProgress) => void,
) {
  const { eventStore, db, personalData, trusted, since, witnesses, runtime, signal } = dependencies;
  const violations = createViolations();
  const seals = await verifySeals(eventStore, trusted, violations);
  if (witnesses) {
    const last = await eventStore.loadLast(sealsStream);
    const lack = lackOfWitnesses((last && readSignedSeal(last)?.checkpoint?.note) ?? '', witnesses);
    if (lack !== null) violations.add('witnesses', lack);
  }
  const events = await verifyEvents(dependencies, seals, onProgress);
  const { acknowledgements, found, from, isResumed, log, resumedAfter, soFar } = events;
  violations.addAll(found);
  const { explained } = acknowledgements;
  const checked: Checked[] = [
    { what: 'events, each with its hash and its place in its stream', count: log.events },
    { what: 'streams, each without gaps', count: log.streams },
    { what: 'seals, each with its signature and what it counted', count: log.seals.met() },
  ];
  const notes = sealNotes(log, trusted, runtime.now(), violations);
  const done = `the first ${resumedAfter} events and the rows of ${Object.keys(soFar.rows).length} read models`;
  if (isResumed)
    notes.push(`A run that began at ${soFar.startedAt} and was interrupted had verified ${done}.`);
  const refused = await sealingRefused(db);
  if (refused !== null) violations.add('unsealed events', `Nothing is sealed any more: ${refused}`);
  if (!log.complete) notes.push('The read models were not checked, since they are made from the whole log.');
  else if (since && from && personalData) {
    const until = positionText(from.after);
    const before = { at: '', checked: [], violations: [], streams: [], days: [], until };
    const rows = await check({ ...dependencies, personalData }, before, signal);
    violations.addAll(rows.violations);
    checked.push(...rows.checked);
    notes.push('Events before the checkpoint, and rows that have not changed since, were not checked.');
  } else {
    const report = { acknowledgements, notes, soFar, violations };
    checked.push(...(await verifyReadModels(dependencies, report, onProgress)));
  }
  return { checked, explained, violations: violations.all(), notes };
}

/** All rows against a fresh fold, and the rules between them. */
async function verifyReadModels(
  dependencies: VerifyDependencies,
  report: {
    acknowledgements: Acknowledgements;
    notes: string[];
    soFar: VerifiedSoFar;
    violations: Violations;
  },
  onProgress: (progress: VerifyProgress) => void,
): Promise<Checked[]> {
  const { db, demandsRows = false, personalData, progress, runtime, signal } = dependencies;
  const { acknowledgements, notes, soFar, violations } = report;
  const checked: Checked[] = [];
  if (personalData && (await mayMakeTables(db))) {
    const saved = { done: soFar.rows, onDone: () => progress?.save(() => soFar, true) };
    checked.push(...(await verifyRows({ ...dependencies, personalData }, violations, onProgress, saved)));
  } else {
    if (demandsRows) violations.add('rows of every read model', 'They were not compared with the log');
    notes.push(
      'Rows were not compared with the log: that takes DATA_KEY, and an account of PostgreSQL that may make schemas.',
    );
  }
  for (const [name, rows] of Object.entries(soFar.rows))
    if (rows.checked === null && rows.violations.length === 0)
      notes.push(`The rows of ${name} were not compared: the account of PostgreSQL may not lock them.`);
  for (const { name, fault, parked } of await projectionStatus(db)) {
    if (fault) notes.push(`The projection ${name} has halted: what came after was not checked.`);
    for (const each of parked) {
      const sentence = `${name} has parked ${placeText(each)}: ${each.message}`;
      acknowledgements.report('parked streams', each, sentence, violations);
    }
  }
  // Tables that are gone or have another form are reported with the rows, and must not stop the other checks.
  const unlessRefused = (kind: 'the journal' | 'rows of payments', what: string) => (error: unknown) => {
    if (!isRefusal(error)) throw error;
    violations.add(kind, `${what} cannot be checked: ${describeFailure(error)}`);
    return [];
  };
  const journal = verifyJournal(db, violations).catch(unlessRefused('the journal', 'The journal'));
  checked.push(...(await journal));
  const payments = verifyPayments({ db, now: runtime.now(), signal }, violations, onProgress);
  checked.push(...(await payments.catch(unlessRefused('rows of payments', 'Receipts and deliveries'))));
  return checked;
}

/** The log, from its first event, from `since`, or from where an interrupted run has verified it. */
async function verifyEvents(
  dependencies: VerifyDependencies,
  { marks, keys }: Awaited<ReturnType<typeof verifySeals>>,
  onProgress: (progress: VerifyProgress) => void,
) {
  const { eventStore, progress, runtime, signal, since, trusted } = dependencies;
  const violations = createViolations();
  const acknowledgements = await loadAcknowledgements(eventStore, keys, violations);
  const { explained } = acknowledgements;
  const saved = since ? null : (progress?.load(trusted) ?? null);
  const start = since ? { size: since.size, root: since.root.toString('hex') } : saved?.log;
  const from = start ? await findVerified(start, marks, eventStore) : null;
  if (since && !from)
    violations.add(
      'the log',
      `It has no seal of the checkpoint of ${since.size} events from which it was to be verified`,
    );
  const keysAsJson = JSON.stringify(trusted);
  const anew = { startedAt: runtime.now().toISOString(), trusted: keysAsJson, log: null, rows: {} };
  const soFar: VerifiedSoFar = saved && (from || !saved.log) ? saved : anew;
  const counts = soFar.log;
  violations.addAll(counts?.violations ?? []);
  if (counts) explained.splice(0, explained.length, ...counts.explained);
  const sealed = marks.at(-1)?.count ?? 0;
  const log = await verifyLog({
    eventStore,
    acknowledgements,
    marks,
    from: from && { ...from, counts },
    violations,
    signal,
    onProgress(done) {
      const share = since || sealed === 0 ? null : Math.min(1, done / sealed);
      onProgress({ step: 'events of the log', done, share });
    },
    onSealed: ({ count: size, hash: root }, counted) =>
      progress?.save(() => {
        soFar.log = { size, root, ...counted, violations: violations.all(), explained: [...explained] };
        return soFar;
      }),
  });
  const resumed = { isResumed: soFar === saved, resumedAfter: counts?.events ?? 0, soFar };
  return { acknowledgements, found: violations.all(), from, log, ...resumed };
}

/** The seal of a checkpoint; null if the log has none. */
async function findVerified(
  { size, root }: { size: number; root: string },
  marks: readonly SealMark[],
  eventStore: Pick<EventStore, 'load'>,
): Promise<VerifiedUntil | null> {
  const mark = marks.find(({ isTree, count, hash }) => isTree && count === size && hash === root);
  const [stored] = mark ? await eventStore.load(sealsStream, mark.revision, 1) : [];
  const range = stored && readSignedSeal(stored)?.checkpoint?.range;
  if (!mark || !range) return null;
  return { mark, range, after: (await lastEventOf(mark, eventStore)).position, counts: null };
}

/** A fresh fold needs tables of its own. */
async function mayMakeTables(db: Knex): Promise<boolean> {
  const { rows } = await db.raw(`select has_database_privilege(current_database(), 'create') as may`);
  return rows[0]?.may;
}

function sealNotes(
  { seals }: LogResult,
  trusted: VerifyDependencies['trusted'],
  now: Date,
  violations: Violations,
): string[] {
  const { events, since } = seals.unsealed();
  const uncovered = seals.uncovered();
  if (since && now.getTime() - since.getTime() > sealedWithinMs)
    violations.add('unsealed events', `The ${events} events since ${since.toISOString()} are not sealed`);
  const notes: string[] = [];
  if (!trusted) notes.push('No public key was given: whose key signed the seals was not checked.');
  if (events > 0) notes.push(`${events} events are not sealed yet: only their chains protect them.`);
  if (uncovered > 0)
    notes.push(
      `${uncovered} events are of streams that their sealer did not know: only their chains protect them.`,
    );
  return notes;
}

async function verifyJournal(db: Knex, violations: Violations): Promise<Checked[]> {
  const { debitSen, creditSen, unbalanced } = await journalBalance(db);
  if (unbalanced > 0)
    violations.add('the journal', 'The journal has entries whose debits are not their credits', unbalanced);
  else if (debitSen !== creditSen)
    violations.add('the journal', `All debits are ${debitSen} sen, all credits ${creditSen}`);
  const { count, first } = await openSharedNumbers(db);
  if (first) {
    const what = first.kind === 'sharedReceiptNo' ? 'receipt number' : 'gateway transaction';
    const payments = `Payments ${first.firstTransactionId} and ${first.transactionId}`;
    violations.add('shared numbers', `${payments} have the same ${what}, and nobody has explained it`, count);
  }
  return [{ what: 'sen of debits against as many of credits', count: Number(debitSen) }];
}
