/** Compares the rows of some streams with rows freshly made from those streams. Changes nothing, and nobody waits. */
import type { Knex } from 'knex';
import type { PersonalDataReader } from '../../events/personal-data.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { isAfter } from '../../eventstore/position.ts';
import { quoteIdentifier } from '../../postgres/table.ts';
import { projectionStatus } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import { comparedRows, compareTable, type RowDifference } from './compare.ts';

export type ComparedTables = {
  projection: Projection;
  prefixes: readonly string[];
  /** Holds what follows the prefix, in each of the tables. */
  idColumn: string;
  /** Those whose rows depend on no other stream. */
  tables: readonly string[];
};

type Stores = { db: Knex; eventStore: Pick<EventStore, 'load'>; personalData: PersonalDataReader };

const schema = 'freshly_made';

/**
 * The rows are those of one snapshot, and the fresh ones are made from the events up to its checkpoint, in a transaction
 * that is rolled back. Throws on an event that cannot be folded, and the stores' errors. Resolves to null if the projection
 * has not run yet.
 */
export async function compareStreams(
  { db, eventStore, personalData }: Stores,
  { projection, prefixes, idColumn, tables }: ComparedTables,
  streams: readonly string[],
): Promise<{ rows: number; differences: RowDifference[] } | null> {
  const own = streams.filter((stream) => prefixes.some((prefix) => stream.startsWith(prefix)));
  if (own.length === 0) return { rows: 0, differences: [] };
  const trx = await db.transaction(undefined, { isolationLevel: 'repeatable read' });
  try {
    // The first query takes the snapshot.
    const status = (await projectionStatus(trx)).find(({ name }) => name === projection.name);
    if (!status?.position || status.version !== projection.version) return null;
    const { position } = status;
    await trx.raw('create temporary table compared_ids (id text primary key) on commit drop');
    const ids = own.map((stream) => ({ id: idOf(stream, prefixes) }));
    await trx('compared_ids').insert(ids).onConflict().ignore();
    await trx.raw('create schema ??', [schema]);
    await trx.raw('set local search_path to ??', [schema]);
    await projection.createTables(trx);
    const loaded = (await Promise.all(own.map((stream) => eventStore.load(stream)))).flat();
    const events = loaded.filter((event) => !isAfter(event.position, position));
    await projection.project(events, trx, personalData);
    await trx.raw('set local search_path to default');
    const chosen = ` where ${quoteIdentifier(idColumn)} in (select id from compared_ids)`;
    const serving = await comparedRows(trx, projection, projection.name);
    const differences: RowDifference[] = [];
    let rows = 0;
    for (const fresh of await comparedRows(trx, projection, schema)) {
      const twin = serving.find(({ table }) => table === fresh.table);
      if (!twin || !tables.includes(fresh.table)) continue;
      const filtered = { ...twin, sql: twin.sql + chosen };
      const found = await compareTable(trx, filtered, { ...fresh, sql: fresh.sql + chosen }, streams.length);
      rows += found.rows;
      differences.push(...found.differences);
    }
    return { rows, differences };
  } finally {
    await trx.rollback();
  }
}

/** The part of a stream's name that follows one of the prefixes. */
function idOf(stream: string, prefixes: readonly string[]): string {
  return stream.slice(prefixes.find((prefix) => stream.startsWith(prefix))?.length ?? 0);
}
