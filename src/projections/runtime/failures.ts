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
