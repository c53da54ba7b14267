/** Read models with one row per stream: its folded state, and the columns by which rows are found. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import type { PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, indexesOf, type Row, type Table, upsert } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { type Projection, ProjectionFault } from './projection.ts';

/** A stream as a batch of events has left it. */
type ChangedStream<State> = {
  /** The stream's name after the prefix. */
  id: string;
  /** The revision of the last event in the state. */
  revision: number;
  state: State;
  /** The first and the last event of the batch that are new to the stream. */
  first: RecordedEvent;
  last: RecordedEvent;
};

/** A kind of stream: how its names begin, how its events are read, and the state that they lead to. */
type Fold<State, Event> = {
  prefix: string;
  /** Throws on what it cannot read. */
  read(event: RecordedEvent): Event;
  /** Null before the first event, and if a stream cannot begin with that event. */
  evolve(state: State | null, event: Event): State | null;
};

export type StreamOptions<State, Event, Column extends string> = {
  name: string;
  version: number;
  fold: Fold<State, Event>;
  idColumn?: string;
  /** Its columns in addition to id, revision and state. Its name is the projection's if not given. */
  table: { name?: string; columns: Readonly<Record<Column, string>>; indexes?: readonly string[] };
  columnsOf(
    changed: ChangedStream<State>,
    personalData: PersonalDataReader,
  ): Row<NoInfer<Column>> | Promise<Row<NoInfer<Column>>>;
  /** Columns that keep the value of the stream's first batch. */
  constantColumns?: readonly NoInfer<Column>[];
  /** Further tables, which `writeMore` fills in the same transaction. */
  moreTables?: readonly Table[];
  writeMore?(
    changed: readonly ChangedStream<State>[],
    db: Knex.Transaction,
    personalData: PersonalDataReader,
  ): Promise<void>;
};

/** A projection that loads the rows of a batch's streams, folds the events that they lack, and writes them back. */
export function streamProjection<State, Event, Column extends string = never>(
  options: StreamOptions<State, Event, Column>,
): Projection {
  const { name, version, fold, idColumn = 'id' } = options;
  const { columnsOf, constantColumns = [], moreTables = [], writeMore } = options;
  const table: Table = {
    name,
    ...options.table,
    // json, not jsonb: jsonb refuses U+0000 and lone surrogates, which people's input can hold, and a state that
    // storage had altered would fold differently.
    columns: {
      [idColumn]: 'text',
      revision: 'integer not null',
      ...options.table.columns,
      state: 'json not null',
    },
    primaryKey: [idColumn],
  };
  const kept: readonly string[] = [idColumn, ...constantColumns];
  const updated = Object.keys(table.columns).filter((column) => !kept.includes(column));

  return {
    name,
    version,
    streamPrefixes: [fold.prefix],
    createTables: (db) => createTables(db, table, ...moreTables),
    indexes: indexesOf(table, ...moreTables),
    async project(events, db, personalData) {
      const ids = new Set(events.map(({ streamName }) => streamName.slice(fold.prefix.length)));
      const { rows } = await prepared<{ rows: Stored<State>[] }>(
        db,
        `select ${idColumn} as id, revision, state from ${table.name} where ${idColumn} = any(?)`,
        [[...ids]],
      );
      const changed = foldStreams(rows, events, fold);
      const written = await Promise.all(
        changed.map(async (stream) => ({
          [idColumn]: stream.id,
          revision: stream.revision,
          ...(await columnsOf(stream, personalData)),
          state: JSON.stringify(stream.state),
        })),
      );
      await upsert(db, table, written, updated);
      if (changed.length > 0) await writeMore?.(changed, db, personalData);
    },
  };
}

type Stored<State> = Pick<ChangedStream<State>, 'id' | 'revision' | 'state'>;

/** The streams that the events changed. Skips events that the stream's row already holds. */
function foldStreams<State, Event>(
  stored: readonly Stored<State>[],
  events: readonly RecordedEvent[],
  { evolve, prefix, read }: Fold<State, Event>,
): ChangedStream<State>[] {
  const rows = new Map(stored.map((row) => [row.id, row]));
  const changed = new Map<string, ChangedStream<State>>();
  for (const event of events) {
    const id = event.streamName.slice(prefix.length);
    const before = changed.get(id);
    const { revision, state } = before ?? rows.get(id) ?? { revision: -1, state: null };
    if (event.revision <= revision) continue;
    if (event.revision > revision + 1)
      throw new ProjectionFault(`Revision ${revision + 1} of the stream is missing before this event`);
    const next = evolve(state, read(event));
    if (next === null) throw new ProjectionFault('The stream does not begin with the event that creates it');
    const first = before?.first ?? event;
    changed.set(id, { id, revision: event.revision, state: next, first, last: event });
  }
  return [...changed.values()];
}
