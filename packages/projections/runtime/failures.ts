/** Why a projection halts or parks a stream, in words without personal data. */
import { ErrorWithoutValues } from '@ledger/kernel/reason-of.ts';
import { answerOf } from '@ledger/postgres/error-codes.ts';
import pg from 'pg';

/** Why a projection halted. No personal data. */
export type Fault = { message: string };

/**
 * A stream that a projection leaves out since an event that it could not process: that event and all later ones of the
 * stream. Its rows stay as the events before it left them. Decision 28.
 */
export type ParkedStream = {
  stream: string;
  /** The revision of the first event that is left out. */
  revision: number;
  type: string;
  message: string;
  parkedAt: string;
};

/** The fault of a projection that continues by itself once there is room. */
export const diskFullText = 'The disk of PostgreSQL is full';

/** Thrown when the projection cannot continue until somebody has repaired what the message names. */
export class ProjectionHalted extends ErrorWithoutValues {
  override name = 'ProjectionHalted';
}

/** A failure without values: if its message may hold some, its type and location. */
export function describeFailure(error: unknown): string {
  if (error instanceof ErrorWithoutValues) return error.message;
  if (error instanceof pg.DatabaseError) {
    // About the state of a transaction, names and rights, and room.
    const place = /^(25|42|53)/.test(error.code ?? '')
      ? answerOf(error)
      : [error.table, error.column, error.constraint].filter(Boolean).join(' ');
    return `Postgres refused the rows: ${error.code} ${place}`.trim();
  }
  if (!(error instanceof Error)) return 'A value that is not an error was thrown';
  const frame = error.stack?.split('\n').find((line) => line.includes('file://'));
  return `${error.name} ${frame?.trim() ?? ''}`.trim();
}
