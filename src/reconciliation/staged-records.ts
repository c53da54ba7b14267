/**
 * The records of an export while it is compared, in a temporary SQLite database on disk, which is deleted when the
 * process ends. The memory that an import needs therefore does not grow with the file.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Discrepancy } from '../events/reconciliation.ts';
import type { Verdict } from './compare.ts';
import type { ExportRecord } from './export-format.ts';

const schema = `
  create table records (subject text not null, line integer not null, paidAt text, merchantCode text not null, record text not null) strict;
  create index recordsBySubject on records (subject, line);
  create table compared (subject text primary key) strict, without rowid;
  create table covered (subject text not null, key text not null, primary key (subject, key)) strict, without rowid;
  create table unreadable (transactionId text primary key) strict, without rowid;
  create table found (id text primary key) strict, without rowid;
`;

export type StagedRecords = ReturnType<typeof openStagedRecords>;

/** Over 70 lines: one prepared statement and one function for each question, and nothing else. */
export function openStagedRecords() {
  const database = new DatabaseSync('');
  database.exec(schema);
  const insertRecord = database.prepare('insert into records values (?, ?, ?, ?, ?)');
  const insertCompared = database.prepare('insert or ignore into compared values (?)');
  const insertUnreadable = database.prepare('insert or ignore into unreadable values (?)');
  const insertCovered = database.prepare('insert or ignore into covered values (?, ?)');
  const insertFound = database.prepare('insert or ignore into found values (?)');
  // The casts are safe: the rows come from the strict tables above.
  const all = <Row>(sql: string, ...values: (string | number)[]) =>
    database.prepare(sql).all(...values) as unknown as Row[];

  return {
    add(records: readonly ExportRecord[]): void {
      database.exec('begin');
      for (const record of records) {
        const { line, paidAt, merchantCode } = record;
        insertRecord.run(subjectOf(record), line, paidAt, merchantCode, JSON.stringify(record));
      }
      database.exec('commit');
    },

    /** The next subjects in order. A subject is a transaction, or one record that names none. */
    subjectsAfter(subject: string, limit: number): string[] {
      const sql = 'select distinct subject from records where subject > ? order by subject limit ?';
      return all<{ subject: string }>(sql, subject, limit).map((row) => row.subject);
    },

    /** In the order of their lines. */
    recordsOf(subject: string, limit: number): ExportRecord[] {
      const sql = 'select record from records where subject = ? order by line limit ?';
      return all<{ record: string }>(sql, subject, limit).map(({ record }) => JSON.parse(record));
    },

    linesAfter(subject: string, skip: number): number[] {
      const sql = 'select line from records where subject = ? order by line limit -1 offset ?';
      return all<{ line: number }>(sql, subject, skip).map(({ line }) => line);
    },

    /** The first and the last time of payment in the file; null where it has none. */
    times(): { first: string; last: string } | null {
      const [row] = all<{ first: string | null; last: string | null }>(
        'select min(paidAt) as first, max(paidAt) as last from records',
      );
      return row?.first && row.last ? { first: row.first, last: row.last } : null;
    },

    /** With `''` where a record names none. */
    merchantCodes(): string[] {
      const rows = all<{ merchantCode: string }>('select distinct merchantCode from records order by 1');
      return rows.map(({ merchantCode }) => merchantCode);
    },

    /** False when it was marked before. */
    markCompared: (subject: string) => insertCompared.run(subject).changes === 1,

    /** The file covers what these verdicts are about: it shows an earlier discrepancy again, or clears it. */
    cover(subject: string, verdicts: readonly Verdict[]): void {
      for (const { class: verdictClass, ours, record, resultNo, theirs } of verdicts) {
        if (verdictClass === 'missingThere') continue;
        if (record) insertCovered.run(subject, recordKey(record.recordId));
        const isPaid = theirs?.status === 'succeeded' || ours?.status === 'succeeded';
        if (record && isPaid && verdictClass !== 'repeated')
          insertCovered.run(subject, paidKey(record.recordId));
        if (resultNo !== null) insertCovered.run(subject, resultKey(resultNo));
      }
    },

    /** A row that names this transaction cannot be read. */
    markUnreadable: (transactionId: string) => insertUnreadable.run(transactionId),
    isUnreadable: (transactionId: string) =>
      all('select 1 from unreadable where transactionId = ?', transactionId).length > 0,

    markFound: (id: string) => insertFound.run(id),

    /**
     * Whether the file covers what the discrepancy is about, but no longer shows it. Money that they had and the ledger
     * did not have is gone only when the ledger has it, or when the file shows another discrepancy about it: a file that
     * has no such payment any more proves nothing.
     */
    isGone(id: string, discrepancy: Discrepancy): boolean {
      const { kind, ours, recordId, resultNo, theirs } = discrepancy;
      const isPaidThere = theirs?.status === 'succeeded' && ours?.status !== 'succeeded';
      const ofRecord = isPaidThere ? paidKey(recordId) : recordKey(recordId);
      const key = kind === 'missingThere' && resultNo !== null ? resultKey(resultNo) : ofRecord;
      const covered = all('select 1 from covered where subject = ? and key = ?', subjectOf(discrepancy), key);
      return covered.length > 0 && all('select 1 from found where id = ?', id).length === 0;
    },

    close: () => database.close(),
  };
}

/** A record that names no transaction is compared alone. No id begins with `#`. */
function subjectOf({ transactionId, recordId }: Pick<ExportRecord, 'transactionId' | 'recordId'>): string {
  return transactionId || `#${recordId}`;
}

const recordKey = (recordId: string) => `record/${recordId}`;
const paidKey = (recordId: string) => `paid/${recordId}`;
const resultKey = (resultNo: number) => `result/${resultNo}`;
