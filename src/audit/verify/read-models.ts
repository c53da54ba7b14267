/** Compares the rows of all read models and to-do lists with rows newly derived from the log. */
import { KeysUnavailable, type OpenSealed, type PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { isPostgresError, isRefusal } from '@ledger/postgres/error-codes.ts';
import {
  type Comparison,
  compareWithFresh,
  type RowDifference,
} from '@ledger/projections/rebuild/compare.ts';
import { shareDone } from '@ledger/projections/rebuild/progress.ts';
import { RebuildRefused, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { describeFailure, ProjectionHalted } from '@ledger/projections/runtime/failures.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import { allProjections } from '../../projections/all.ts';
import { createDeliveryList } from '../../to-do/delivery-list.ts';
import { requeryList } from '../../to-do/requery-list.ts';
import type { DerivedCheck } from './verification.ts';
import { type Checked, createViolations, placeText } from './violations.ts';

/**
 * An erasure destroys keys before it records that. Within this time it has done so, also if it was interrupted: until
 * then rows hold what cannot be derived from their streams any more. So rows that differ are compared again after it.
 */
export const secondLookMs = 3 * 60_000;

/** For each projection; further violations are only counted. */
const maxDifferences = 1000;

/** Needs DATA_KEY, and an account of PostgreSQL that may create schemas. Throws the stores' errors. */
export const verifyRows: DerivedCheck = async (verification) => {
  const { db, demandsRows = false, personalData, report, soFar } = verification;
  const { notes, violations } = report;
  let checked: Checked[] = [];
  if (personalData && (await mayMakeTables(db)))
    checked = await compareRows({ ...verification, personalData });
  else {
    if (demandsRows) violations.add('rows of every read model', 'They were not compared with the log');
    notes.push(
      'Rows were not compared with the log: that requires DATA_KEY, and an account of PostgreSQL that may create schemas.',
    );
  }
  for (const [name, rows] of Object.entries(soFar.rows)) {
    if (rows.checked === null && rows.violations.length === 0)
      notes.push(`The rows of ${name} were not compared: the account of PostgreSQL may not lock them.`);
    if (rows.lost)
      notes.push(
        `The rows of ${name} lack the personal data of ${rows.lost.count} streams whose keys are lost; the first is ${rows.lost.first}.`,
      );
  }
  return checked;
};

/** A fresh fold needs tables of its own. */
async function mayMakeTables(db: Knex): Promise<boolean> {
  const { rows } = await db.raw(`select has_database_privilege(current_database(), 'create') as may`);
  return rows[0]?.may;
}

type RowVerification = Parameters<DerivedCheck>[0] & { personalData: PersonalDataReader };

/**
 * The number of rows compared in each projection, with those of an interrupted run, whose progress `soFar` has. Projections
 * with rows that differ are compared again at the end.
 */
async function compareRows(verification: RowVerification): Promise<Checked[]> {
  const { onProgress, report, runtime, signal, soFar } = verification;
  const differing = new Map<string, Comparison>();
  await compareEach(verification, differing);
  if (differing.size > 0) {
    const rows = Array.from(differing.values(), ({ differences, more }) => differences.length + more);
    const done = rows.reduce((sum, count) => sum + count);
    onProgress({ step: 'rows to compare again in 3 minutes', done, share: null });
    await runtime.sleep(secondLookMs, signal);
    await compareEach(verification, differing);
  }
  const compared = Object.values(soFar.rows);
  for (const { violations } of compared) report.violations.addAll(violations);
  return compared.flatMap(({ checked }) => checked ?? []);
}

/** Those that are not done yet. Rows that differ are put into `differing` first, and are violations the second time. */
async function compareEach(verification: RowVerification, differing: Map<string, Comparison>): Promise<void> {
  const { personalData, progress, soFar } = verification;
  const done = soFar.rows;
  for (const projection of [...allProjections, createDeliveryList(verification), requeryList]) {
    const { name } = projection;
    if (done[name]) continue;
    const found = createViolations();
    const lost = new Set<string>();
    let checked: Checked | null = null;
    try {
      const noting = { ...personalData, open: notingLost(personalData.open, lost) };
      const compared = await compare(projection, { ...verification, personalData: noting });
      const first = differing.get(name);
      if (!first && compared.differences.length > 0) {
        differing.set(name, compared);
        continue;
      }
      const { rows, differences, more } = first ? inBoth(first, compared) : compared;
      checked = { what: `rows of ${name} against a fresh fold`, count: rows };
      for (const each of differences) found.add(`rows of ${name}.${each.table}`, differenceText(each));
      if (more > 0) found.add(`rows of ${name}`, `${more} more differ`, more);
    } catch (error) {
      // While it is compared, a to-do list is locked, which not every account may do: the report then has a note.
      const mayNotLock = projection.isNeverRebuilt && isPostgresError(error, 'insufficientPrivilege');
      if (!mayNotLock) found.add(`rows of ${name}`, reasonNotCompared(error));
    }
    const [first = ''] = lost;
    done[name] = {
      checked,
      violations: found.all(),
      lost: lost.size > 0 ? { count: lost.size, first } : null,
    };
    progress?.save(() => soFar, true);
  }
}

/** Opens as `open` does, and adds streams whose keys are lost. Details ask for those that were erased since, too. */
function notingLost(open: OpenSealed, lost: Set<string>): OpenSealed {
  return async (held, place) => {
    const opened = await open(held, place);
    if (opened.kind === 'unavailable' && opened.isLost) lost.add(place.stream);
    return opened;
  };
}

async function compare(projection: Projection, verification: RowVerification): Promise<Comparison> {
  return await compareWithFresh({
    ...verification,
    projection,
    limit: maxDifferences,
    onProgress: (progress) =>
      verification.onProgress({
        step: `events for ${projection.name}`,
        done: progress.events,
        share: shareDone(progress),
      }),
  });
}

/** The second comparison, without the rows that did not differ in the first. */
function inBoth(first: Comparison, second: Comparison): Comparison {
  // The first comparison did not name all that differed.
  if (first.more > 0) return second;
  const nameOf = ({ table, key }: RowDifference) => `${table} ${key}`;
  const differed = new Set(first.differences.map(nameOf));
  return { ...second, differences: second.differences.filter((each) => differed.has(nameOf(each))) };
}

/** A projection that has halted, or parked a stream, has rows that nobody has checked. */
export const reportHalted: DerivedCheck = async ({ acknowledgements, db, report }) => {
  for (const { name, fault, parked } of await projectionStatus(db)) {
    if (fault) report.notes.push(`The projection ${name} has halted: later events were not checked.`);
    for (const each of parked) {
      const sentence = `${name} has parked ${placeText(each)}: ${each.message}`;
      acknowledgements.report('parked streams', each, sentence, report.violations);
    }
  }
  return [];
};

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
  if (key === null && columns.length > 0) return `The table lacks ${columns.join(', ')}`;
  const what = key === null ? 'The table' : `The row ${key || 'with an empty key'}`;
  return `${what} ${kindTexts[kind]}${columns.length > 0 ? ` (${columns.join(', ')})` : ''}`;
}
