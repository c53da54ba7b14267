/** What all steps of `ledger verify` share: what they verify, and the report that they add to. */
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { isRefusal } from '@ledger/postgres/error-codes.ts';
import { describeFailure } from '@ledger/projections/runtime/failures.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import type { Checkpoint, Witnesses } from '@ledger/transparency-log/note.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import type { progressFile, VerifiedSoFar } from './resume.ts';
import type { Checked, VerifyProgress, ViolationKind, Violations } from './violations.ts';

export type VerifyDependencies = Omit<Stores<'subscribe' | 'load' | 'loadLast' | 'head'>, 'personalData'> & {
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
  /** If it is null, or the account may only read, rows are not compared with fresh ones. */
  personalData: PersonalDataReader | null;
  signal: AbortSignal;
};

/** The notes say what was not checked, or only within limits. */
export type Report = { checked: Checked[]; notes: string[]; violations: Violations };

export type Verification = VerifyDependencies & {
  report: Report;
  onProgress: (progress: VerifyProgress) => void;
};

/** A check of what is made from the log, after the log itself: what it has checked, beside what it adds to the report. */
export type DerivedCheck = (
  verification: Verification & { acknowledgements: Acknowledgements; soFar: VerifiedSoFar },
) => Promise<Checked[]>;

/** Tables that are gone or have another form are reported with the rows, and must not stop the checks that follow. */
export function unlessRefused(kind: ViolationKind, what: string, check: DerivedCheck): DerivedCheck {
  return async (verification) => {
    try {
      return await check(verification);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      verification.report.violations.add(kind, `${what} cannot be checked: ${describeFailure(error)}`);
      return [];
    }
  };
}
