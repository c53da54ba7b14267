/** Compares the rows of some streams with rows freshly made from those streams. Changes nothing, and nobody waits. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import { projectionStatus } from '../runtime/checkpoints.ts';
import type { Projection } from '../runtime/projection.ts';
import type { Stores } from '../runtime/stores.ts';
import { type Comparison, compareSchemas } from './compare.ts';

const schema = 'freshly_made';

/**
 * `ids` are what the keys of the rows begin with. The rows are those of one snapshot, and the fresh ones are made from
 * the events up to its checkpoint, in a transaction that is rolled back. Compares nothing if the projection has not run
 * yet. Throws on an event that cannot be folded, and the stores' errors.
 */
export async function compareStreams(
  { db, eventStore, personalData }: Pick<Stores<'load'>, 'db' | 'eventStore' | 'personalData'>,
  projection: Projection,
  { ids, streams }: { ids: readonly string[]; streams: readonly string[] },
): Promise<Comparison> {
  const trx = await db.transaction(undefined, { isolationLevel: 'repeatable read' });
  try {
    // The first query takes the snapshot.
    const status = (await projectionStatus(trx)).find(({ name }) => name === projection.name);
    if (!status?.position || status.version !== projection.version)
      return { rows: 0, differences: [], more: 0 };
    const { parked, position } = status;
    await trx.raw('create temporary table compared_ids on commit drop as select unnest(?::text[]) as id', [
      [...ids],
    ]);
    await trx.raw('create schema ??', [schema]);
    await trx.raw('set local search_path to ??', [schema]);
    await projection.createTables(trx);
    const loaded = (await Promise.all(streams.map((stream) => eventStore.load(stream)))).flat();
    const isLeftOut = ({ revision, streamName }: RecordedEvent) =>
      parked.some((each) => each.stream === streamName && revision >= each.revision);
    const events = loaded.filter((event) => !isAfter(event.position, position) && !isLeftOut(event));
    await projection.project(events, trx, personalData);
    await trx.raw('set local search_path to default');
    const chosen = 'select id from compared_ids';
    return await compareSchemas(trx, projection, { fresh: schema, limit: ids.length, chosen });
  } finally {
    await trx.rollback();
  }
}
