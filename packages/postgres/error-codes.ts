/** What PostgreSQL's error codes mean to the program; the codes are in appendix A of its manual. */
import { codeOf, reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Knex } from 'knex';
import pg from 'pg';

const codes = {
  invalidAuthorization: '28000',
  invalidPassword: '28P01',
  insufficientPrivilege: '42501',
  unknownDatabase: '3D000',
  undefinedTable: '42P01',
  duplicateTable: '42P07',
  lockNotAvailable: '55P03',
  statementTimeout: '57014',
  diskFull: '53100',
  outOfMemory: '53200',
  readOnly: '25006',
  tooManyConnections: '53300',
  /** Raised by statements of our own, about what an operator has to mend. */
  configFile: 'F0000',
} as const;

/** Whether Postgres answered with one of these errors. */
export function isPostgresError(error: unknown, ...names: (keyof typeof codes)[]): boolean {
  return names.some((name) => codes[name] === sqlStateOf(error));
}

// About connections, resources, locks, plans and names of schemas: these recover. All other classes are about the rows and
// the statement, and those that PostgreSQL does not know come from somebody's trigger.
const recoveringClasses = /^(0[^9]|10|2[4-68BDF]|3[4BDF]|40|5[3578]|72|F0|HV|XX)/;

/** Whether Postgres would refuse the same statement with the same values again. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !recoveringClasses.test(sqlStateOf(error) || '00');
}

/** Whether a statement with fewer rows might succeed where this one did not. */
export function isOverload(error: unknown): boolean {
  return isPostgresError(error, 'statementTimeout', 'outOfMemory');
}

const brokenConnection =
  /^(ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_|[A-Z_]*(CERT|LEAF_)|EHOSTUNREACH|ENETUNREACH|Connection terminated|timeout expired|Query read timeout|Client (has encountered a connection error|was closed))/;

/** Whether there was no connection, or it broke; Postgres itself refuses one with class 08 or 57, or 53300. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return /^(08|57P|53300)/.test(sqlStateOf(error));
  const { code = '' } = error as NodeJS.ErrnoException;
  const texts = [code, withoutStatement(error)];
  return error.name === 'KnexTimeoutError' || texts.some((text) => brokenConnection.test(text));
}

/** What went wrong in a query: Knex puts the statement before it, and describes a timeout in words for programmers. */
export function withoutStatement(error: Error): string {
  const text = reasonOf(error).split(' - ').at(-1) ?? '';
  if (text.startsWith('Knex: Timeout acquiring')) return 'no connection was free in time';
  return text.replace(/^Defined query timeout of (\d+)ms .*/, 'no answer within $1 ms');
}

/** The rows of a query; none where its table has not been made yet. */
export async function emptyIfUndefined<Row>(query: PromiseLike<{ rows: Row[] }>): Promise<Row[]> {
  return (await unlessUndefined(query, { rows: [] })).rows;
}

/** The rows of a statement that Postgres has to answer in time; none where its table has not been made yet. */
export async function rowsWithin<Row>(
  timeoutMs: number,
  db: Knex,
  sql: string,
  bindings: Knex.ValueDict = {},
): Promise<Row[]> {
  return await emptyIfUndefined(db.raw<{ rows: Row[] }>(sql, bindings).timeout(timeoutMs));
}

/** The answer to a query, or `otherwise` if there is no such table yet. */
export async function unlessUndefined<Answer>(
  query: PromiseLike<Answer>,
  otherwise: Answer,
): Promise<Answer> {
  try {
    return await query;
  } catch (error) {
    if (isPostgresError(error, 'undefinedTable')) return otherwise;
    throw error;
  }
}

/**
 * What Postgres answered, without the statement; null for any other error. Only where the code begins with 42, about names
 * and rights, 25, about the state of a transaction, or 53, about room, it is known to quote no values.
 */
export function answerOf(error: unknown): string | null {
  return error instanceof pg.DatabaseError ? withoutStatement(error) : null;
}

/** What went wrong, in a few words for a log line: without the statement, which is pages long. */
export const briefReasonOf = (error: unknown): string =>
  error instanceof Error && (error instanceof pg.DatabaseError || isConnectionFailure(error))
    ? withoutStatement(error)
    : reasonOf(error);

/** What went wrong, quoting no values: the code, or for a failed connection without one the driver's own words. */
export function reasonWithoutValues(error: unknown): string {
  const code = codeOf(error);
  return /^(KnexTimeout)?Error$/.test(code) && error instanceof Error && isConnectionFailure(error)
    ? withoutStatement(error)
    : code;
}

function sqlStateOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
