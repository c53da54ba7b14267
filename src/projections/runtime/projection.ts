/** What a projection is: tables made from events. The runner (run.ts) feeds it, keeps its checkpoint and stops it. */
import type { Knex } from 'knex';
import type { RecordedEvent } from '../../eventstore/event-store.ts';

export type Projection = {
  /** Its tables live in a schema of this name; a rebuild makes them in another, and renames it. */
  name: string;
  /** What it was called in earlier releases: the schema and the checkpoint of that name are dropped. */
  formerName?: string;
  /** Raised when tables or fold change: rows of another version must be rebuilt, never mixed with new ones. */
  version: number;
  /** It is fed the events of the streams whose names start with one of these. */
  streamPrefixes: readonly string[];
  /** Creates the tables, once, in an empty schema. Names no schema: the search path leads to the right one. */
  createTables(db: Knex.Transaction): Promise<void>;
  /** Indexes that queries need and `project` does not, as `<name> on <table> …`: a rebuild makes them last. */
  indexes?: readonly string[];
  /**
   * When the tables in the current schema are about to take the place of those in `serving.schema`: brings over what is
   * not derived from events. False when the new ones no longer fit and must be made again.
   */
  carryOver?(db: Knex.Transaction, serving: { schema: string; isSameVersion: boolean }): Promise<boolean>;
  /** Columns, by table, in which rows may rightly differ from what the events alone say. */
  notDerived?: Readonly<Record<string, readonly string[]>>;
  /** What is compared with freshly made tables, where it is not simply table by table. */
  comparedIn?(db: Knex.Transaction, schema: string): Promise<readonly ComparedRows[]>;
  /**
   * Folds a batch in memory, then writes it set-based; committed together with the checkpoint. Names no schema.
   * Throws on an event it cannot take: the runner then looks for that event and stops before it.
   */
  project(events: readonly RecordedEvent[], db: Knex.Transaction): Promise<void>;
};

/** Rows to compare by their key. */
export type ComparedRows = {
  /** What to call them. */
  table: string;
  key: readonly string[];
  /** All columns, the key among them. */
  columns: readonly string[];
  /** A query for them, as SQL; names its schema. */
  sql: string;
};

/** A fault of the log that a projection found itself; its message holds no personal data. */
export class ProjectionFault extends Error {
  override name = 'ProjectionFault';
}
