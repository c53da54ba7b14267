/**
 * The land registry's books: what it received, what it answered, and how it is set to behave; in a SQLite file, so that
 * a receipt that was taken before a restart is a duplicate after it.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A callback, as it was sent. */
export type Registration = Readonly<{
  resitNo: string;
  fpxNo: string;
  idHakmilik: string;
  kodCaw: string;
  accountNo: string;
  amaun: string;
  paymentDateTime: string;
  paymentType: string;
  transId: string;
  dimasuk: string;
}>;

/** `answer-lost`: taken, and the caller never learnt of it. */
export type Verdict = 'accepted' | 'answer-lost' | 'duplicate' | 'refused' | 'hanging';

export const modes = ['accept', 'refuse', 'hang', 'lose-answer'] as const;
export type Mode = (typeof modes)[number];

/** `failingTitleId`: callbacks of this land title are refused whatever the mode; `''` for none. */
export type Behaviour = Readonly<{ mode: Mode; failingTitleId: string }>;

export type Received = Registration & Readonly<{ atMs: number; verdict: Verdict }>;

export type Registrations = ReturnType<typeof openRegistrations>;

const schema = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists registrations (
    id integer primary key, atMs integer not null, verdict text not null, resitNo text not null, fpxNo text not null,
    idHakmilik text not null, kodCaw text not null, accountNo text not null, amaun text not null,
    paymentDateTime text not null, paymentType text not null, transId text not null, dimasuk text not null
  ) strict;
  create unique index if not exists registered on registrations (resitNo, fpxNo)
    where verdict in ('accepted', 'answer-lost');
  create table if not exists behaviour (
    id integer primary key check (id = 1), mode text not null, failingTitleId text not null
  ) strict;
  insert or ignore into behaviour values (1, 'accept', '');
`;

/** Opens the books, making the file and its folder when there is none; other books may share the file. */
export function openRegistrations(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(schema);
  // The casts below are for rows of our own making, from the strict tables above.
  const all = <Row>(sql: string, ...values: (string | number)[]) =>
    database.prepare(sql).all(...values) as unknown as Row[];

  return {
    /** Whether this receipt number was taken before with this FPX number. */
    has({ resitNo, fpxNo }: Registration): boolean {
      return (
        all(
          `select 1 from registrations
            where resitNo = ? and fpxNo = ? and verdict in ('accepted', 'answer-lost')`,
          resitNo,
          fpxNo,
        ).length > 0
      );
    },

    /** Throws when `verdict` takes a receipt that was taken before. */
    add(registration: Registration, verdict: Verdict): void {
      database
        .prepare(
          `insert into registrations values (null, :atMs, :verdict, :resitNo, :fpxNo, :idHakmilik, :kodCaw, :accountNo,
            :amaun, :paymentDateTime, :paymentType, :transId, :dimasuk)`,
        )
        .run({ ...registration, verdict, atMs: Date.now() });
    },

    /** The newest first. */
    recent(limit: number): Received[] {
      return all<Received>('select * from registrations order by id desc limit ?', limit);
    },

    /** How many callbacks ever had each verdict; those that none had are left out. */
    counts(): { verdict: Verdict; count: number }[] {
      return all('select verdict, count(*) as count from registrations group by verdict order by verdict');
    },

    behaviour(): Behaviour {
      const [row] = all<Behaviour>('select mode, failingTitleId from behaviour');
      return row ?? { mode: 'accept', failingTitleId: '' };
    },

    behave({ mode, failingTitleId }: Behaviour): void {
      database.prepare('update behaviour set mode = ?, failingTitleId = ?').run(mode, failingTitleId);
    },

    close(): void {
      database.close();
    },
  };
}
