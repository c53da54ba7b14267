/** Tells an event that cannot be folded from a database that is away, and words a failure without personal data. */
import pg from 'pg';
import { UnreadableEvent } from '../../events/codec.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { ProjectionFault } from './projection.ts';

/** A batch cannot be written as it is: one of its events is at fault, or they are too much at a time. */
export class BatchRefused extends Error {
  override name = 'BatchRefused';
}

/** Why a projection stands still, and the event it stands before (null when it never began). No personal data. */
export type Fault = { message: string; event: { stream: string; revision: number; type: string } | null };

/** Thrown when going on makes no sense until somebody mends what the fault says. */
export class ProjectionHalted extends Error {
  override name = 'ProjectionHalted';
  readonly fault: Fault;
  constructor(message: string, event: RecordedEvent | null) {
    super(message);
    this.fault = {
      message,
      event: event && { stream: event.streamName, revision: event.revision, type: event.type },
    };
  }
}

// Wrong number of rows, unfit data, broken constraint, wrong SQL, limit of the program, a trigger's own refusal: the
// same every time.
// All other classes are of connections, resources and locks, which get well again.
const deterministicClasses = /^(21|22|23|42|54|P0)/;

/** Whether Postgres would refuse the same statement with the same values again. */
export function isRefusal(error: unknown): boolean {
  return deterministicClasses.test(codeOf(error));
}

const statementTimeout = '57014';
const outOfMemory = '53200';

/** Whether fewer events at a time might go through where these did not. */
export function isOverload(error: unknown): boolean {
  return [statementTimeout, outOfMemory].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}

/** Only our own messages are known to hold no values; of any other failure the kind and the place are told. */
export function describeFailure(error: unknown): string {
  if (error instanceof UnreadableEvent || error instanceof ProjectionFault) return error.message;
  if (error instanceof pg.DatabaseError) {
    const place = [error.table, error.column, error.constraint].filter(Boolean).join(' ');
    return `Postgres refused the rows: ${error.code} ${place}`.trim();
  }
  if (!(error instanceof Error)) return 'A value that is no error was thrown';
  const frame = error.stack?.split('\n').find((line) => line.includes('file://'));
  return `${error.name} ${frame?.trim() ?? ''}`.trim();
}
