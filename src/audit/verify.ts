/**
 * Verifies all there is: the log by its chains and seals, the read models by a fresh fold, and what must hold between
 * payments' outcomes, their deliveries and the journal. Changes nothing.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { EventStore } from '../eventstore/event-store.ts';
import { allProjections } from '../projections/all.ts';
import { compareWithFresh, type RowDifference } from '../projections/compare.ts';
import { StandStill } from '../projections/failures.ts';
import { journalBalance } from '../projections/journal-queries.ts';
import { RebuildRefused } from '../projections/rebuild.ts';
import { createFindings, type Fault, type Findings } from './findings.ts';
import { type LogResult, verifyLog } from './verify-log.ts';
import { verifyPayments } from './verify-payments.ts';
import { verifySeals } from './verify-seals.ts';

export type VerifyOptions = {
  eventStore: Pick<EventStore, 'subscribe' | 'load' | 'head'>;
  db: Knex;
  /** The database of `db`: a fresh fold needs connections of its own. */
  databaseUrl: string;
  /** Public keys as seals name them; with null any seal that its own key has signed is taken for the ledger's. */
  trusted: readonly string[] | null;
  clock: () => Date;
  log: Logger;
  signal: AbortSignal;
};

export type VerifyReport = {
  /** What was held against what, and how many there were of it. */
  checked: readonly { what: string; count: number }[];
  /** None: everything is as it was written. */
  faults: readonly Fault[];
  /** What the reader must know to judge the rest. */
  notes: readonly string[];
};

export type VerifyProgress = { step: string; done: number };

/** Of these the first in each table is named; the rest are counted. */
const differencesShown = 1000;
/** The sealer seals every ten minutes: what is older than this should be sealed. */
const sealedAfterMs = 60 * 60_000;

/** Throws what the signal was aborted with, EventStoreUnavailable, and the database's error. */
export async function verify(
  options: VerifyOptions,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  const { eventStore, db, trusted, clock, signal } = options;
  const findings = createFindings();
  const checked: { what: string; count: number }[] = [];
  const notes: string[] = [];
  const marks = await verifySeals(eventStore, trusted, findings);
  const log = await verifyLog({
    eventStore,
    marks,
    findings,
    signal,
    onProgress: (done) => onProgress({ step: 'events of the log', done }),
  });
  checked.push(
    { what: 'events, each with its hash and its place in its stream', count: log.events },
    { what: 'streams, each without gaps', count: log.streams },
    { what: 'seals, each with its signature and what it counted', count: log.seals.met() },
  );
  notes.push(...sealNotes(log, trusted, clock(), findings));
  if (!log.complete) {
    notes.push('The read models were not checked, since they are made from the whole log.');
    return { checked, faults: findings.all(), notes };
  }
  checked.push(...(await verifyRows(options, findings, onProgress)));
  const { debitSen, creditSen, unbalanced } = await journalBalance(db);
  if (unbalanced > 0)
    findings.add('the journal', 'The journal has entries whose debits are not their credits', unbalanced);
  else if (debitSen !== creditSen)
    findings.add('the journal', `All debits are ${debitSen} sen, all credits ${creditSen}`);
  checked.push({ what: 'sen of debits against as many of credits', count: Number(debitSen) });
  const payments = await verifyPayments({
    db,
    now: clock(),
    findings,
    signal,
    onProgress: (done) => onProgress({ step: 'payments', done }),
  });
  checked.push(
    { what: 'payments, each with a receipt if it is paid', count: payments.payments },
    { what: 'deliveries, in order and not overdue', count: payments.deliveries },
  );
  return { checked, faults: findings.all(), notes };
}

function sealNotes(
  { seals }: LogResult,
  trusted: VerifyOptions['trusted'],
  now: Date,
  findings: Findings,
): string[] {
  const { events, since } = seals.unsealed();
  const uncovered = seals.uncovered();
  if (since && now.getTime() - since.getTime() > sealedAfterMs)
    findings.add('unsealed events', `The ${events} events since ${since.toISOString()} are not sealed`);
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

/** Of each projection, how many rows were held against a fresh fold. */
async function verifyRows(
  { eventStore, db, databaseUrl, log, signal }: VerifyOptions,
  findings: Findings,
  onProgress: (progress: VerifyProgress) => void,
): Promise<{ what: string; count: number }[]> {
  const checked: { what: string; count: number }[] = [];
  for (const projection of allProjections) {
    const { name } = projection;
    try {
      const { rows, differences, more } = await compareWithFresh({
        projection,
        eventStore,
        db,
        databaseUrl,
        log,
        signal,
        limit: differencesShown,
        onProgress: ({ events }) => onProgress({ step: `events for ${name}`, done: events }),
      });
      checked.push({ what: `rows of ${name} against a fresh fold`, count: rows });
      for (const it of differences) findings.add(`rows of ${name}.${it.table}`, differenceText(it));
      if (more > 0) findings.add(`rows of ${name}`, `${more} more differ`, more);
    } catch (error) {
      findings.add(`rows of ${name}`, whyNotCompared(error));
    }
  }
  return checked;
}

/** In words, where it is the log or the tables that stand in the way; throws any other error. */
function whyNotCompared(error: unknown): string {
  if (error instanceof RebuildRefused) return error.message;
  if (!(error instanceof StandStill)) throw error;
  const { event } = error.fault;
  const place = event ? `, at ${event.stream} revision ${event.revision}` : '';
  return `They cannot be made from the log: ${error.message}${place}`;
}

const kindTexts = {
  missing: 'is missing',
  extra: 'is there, and no event leads to it',
  changed: 'is not what the events lead to',
} as const;

function differenceText({ key, kind, columns }: RowDifference): string {
  // Without a key it is the table as a whole.
  const what = key === '' ? 'The table' : `The row ${key}`;
  return `${what} ${kindTexts[kind]}${columns.length > 0 ? ` (${columns.join(', ')})` : ''}`;
}
