/** What a projection is: tables made from events. The runner (run.ts) feeds it, keeps its checkpoint and stops it. */
import type { Knex } from 'knex';
import type { RecordedEvent } from '../eventstore/event-store.ts';

export type Projection = {
  /** Its tables live in a schema of this name, unless the runner is told another (a rebuild beside the old one). */
  name: string;
  /** Raised when tables or fold change: rows of another version must be rebuilt, never mixed with new ones. */
  version: number;
  /** It is fed the events of the streams whose names start with one of these. */
  streamPrefixes: readonly string[];
  /** Creates the tables, once, in an empty schema. Names no schema: the search path leads to the right one. */
  createTables(db: Knex.Transaction): Promise<void>;
  /**
   * Folds a batch in memory, then writes it set-based; committed together with the checkpoint. Names no schema.
   * Throws on an event it cannot take: the runner then looks for that event and stops before it.
   */
  project(events: readonly RecordedEvent[], db: Knex.Transaction): Promise<void>;
};

/** A fault of the log that a projection found itself; its message holds no personal data. */
export class ProjectionFault extends Error {
  override name = 'ProjectionFault';
}
