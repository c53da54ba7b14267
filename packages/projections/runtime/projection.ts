/** What a projection is: tables made from events. run.ts feeds it and keeps its checkpoint. */
import type { RecordedEvent, Selection } from '@ledger/event-store/event-store.ts';
import { ErrorWithoutValues } from '@ledger/kernel/reason-of.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import type { Knex } from 'knex';

/** What is needed to tell how far a projection has come. `Selection` says which events it processes. */
export type Followed = Selection & Pick<Tables, 'name' | 'version' | 'isNeverRebuilt'>;

export type Projection = Selection & Tables;

type Tables = {
  /** Its tables are in a schema of this name; a rebuild makes them in another schema, which is then renamed. */
  name: string;
  /** Raised when tables or fold change: rows of an older version are made again, never mixed with new ones. */
  version: number;
  /** Its rows hold more than the log says, such as leases: nobody may have it rebuilt. */
  isNeverRebuilt?: true;
  /** The most events of a batch, where `project` does slow work within its transaction. */
  maxEvents?: number;
  /** Whether an event may wait for a tenth of a second, for others to come, because nobody waits for what it changes. */
  canWait?(event: RecordedEvent): boolean;
  /** Creates the tables in an empty schema. Names no schema: the search path leads to the right one. */
  createTables(db: Knex.Transaction): Promise<void>;
  /** Indexes that queries need and `project` does not, as `<name> on <table> …`: a rebuild makes them last. */
  indexes?: readonly string[];
  /**
   * Whether the tables in the current schema, which are about to replace those in the schema `serving`, still match them
   * in what is not derived from events; otherwise they are made again.
   */
  stillMatches?(db: Knex.Transaction, serving: string): Promise<boolean>;
  /** Columns, by table, that may legitimately differ from what the events alone say. */
  notDerived?: Readonly<Record<string, readonly string[]>>;
  /**
   * The events by which rows are ahead of the checkpoint, compared with those in the schema `fresh`; of a limited number
   * of streams at a time. With `since`, the id of a transaction, only those of rows that were written from then on; all
   * rows stay as they are until the transaction ends.
   */
  eventsAhead?(db: Knex, fresh: string, since: string | null): AsyncIterable<readonly RecordedEvent[]>;
  /** The rows that are compared with freshly made ones, where that is not simply table by table. */
  comparedIn?(db: Knex.Transaction, schema: string): Promise<readonly ComparedRows[]>;
  /**
   * Folds a batch in memory, then writes it set-based; committed together with the checkpoint. Names no schema. Throws
   * on an event that it cannot process: the runner then finds that event and parks its stream. Throws KeysUnavailable
   * while personal data cannot be read: the runner then waits.
   */
  project(
    events: readonly RecordedEvent[],
    db: Knex.Transaction,
    personalData: PersonalDataReader,
  ): Promise<void>;
};

/** Which events it processes, without everything else that it is. */
export function selectionOf(followed: Followed): Selection {
  return 'eventTypes' in followed
    ? { eventTypes: followed.eventTypes }
    : { streamPrefixes: followed.streamPrefixes };
}

/** Rows to compare by their key. */
export type ComparedRows = {
  table: string;
  key: readonly string[];
  /** All columns, the key among them. */
  columns: readonly string[];
  /** The query for them; names its schema. */
  sql: string;
};

/** A fault of the log that a projection found itself; its message holds no personal data. */
export class ProjectionFault extends ErrorWithoutValues {
  override name = 'ProjectionFault';
}
