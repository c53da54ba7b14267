/**
 * The land registry's data: what it received, what it answered, and how it is set to behave. It is kept in a SQLite
 * file, so that a receipt accepted before a restart is a duplicate after it.
 */
import { enums, type Infer, object, pattern, size, string, trimmed } from 'superstruct';
import type { Database } from './database.ts';

const text = size(string(), 0, 200);
const nonempty = size(string(), 1, 200);

/** The documented payload of a callback. */
export const Callback = object({
  accountNo: text,
  idHakmilik: text,
  kodCaw: pattern(string(), /^\d{2,4}$/),
  resitNo: nonempty,
  amaun: pattern(string(), /^\d{1,9}\.\d{2}$/),
  paymentDateTime: pattern(
    string(),
    /^20\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d){2}$/,
  ),
  paymentType: enums(['CABAMPAY', 'CABAMCC', 'CABAMQR', 'CABAMDC']),
  fpxNo: text,
  transId: nonempty,
  dimasuk: nonempty,
});
export type Registration = Readonly<Infer<typeof Callback>>;

/** `answer-lost`: accepted, but the caller never received the answer. */
export type Verdict = 'accepted' | 'answer-lost' | 'duplicate' | 'refused' | 'hanging';

/** `failingTitleId`: callbacks for this land title are refused in every mode; `''` for none. */
export const Settings = object({
  mode: enums(['accept', 'refuse', 'hang', 'lose-answer']),
  failingTitleId: trimmed(text),
});
type Behaviour = Readonly<Infer<typeof Settings>>;

type Received = Registration & Readonly<{ atMs: number; verdict: Verdict }>;

export type Registrations = ReturnType<typeof createRegistrations>;

export function createRegistrations({ all, insert, run }: Database) {
  return {
    /** Whether this receipt number has already been accepted with this FPX number. */
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

    /** Throws if `verdict` accepts a receipt that has already been accepted. */
    add(registration: Registration, verdict: Verdict): void {
      insert('registrations', { ...registration, verdict, atMs: Date.now() });
    },

    /** Newest first. */
    recent(limit: number): Received[] {
      return all<Received>('select * from registrations order by id desc limit ?', limit);
    },

    /** The number of callbacks for each verdict that has occurred. */
    counts(): { verdict: Verdict; count: number }[] {
      return all('select verdict, count(*) as count from registrations group by verdict order by verdict');
    },

    behaviour(): Behaviour {
      const [row] = all<Behaviour>('select mode, failingTitleId from behaviour');
      return row ?? { mode: 'accept', failingTitleId: '' };
    },

    behave({ mode, failingTitleId }: Behaviour): void {
      run('update behaviour set mode = ?, failingTitleId = ?', mode, failingTitleId);
    },
  };
}
