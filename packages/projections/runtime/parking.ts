/**
 * Parks streams: an event that a projection cannot process stops its stream there and nothing else. Tries parked streams
 * again, from that event on. Decision 28.
 */
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
} from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { KeysUnavailable, type PersonalDataReader } from '@ledger/personal-data/sealed.ts';
import { isOverload, isRefusal } from '@ledger/postgres/error-codes.ts';
import { indexable } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import { holdCheckpoint, projectionStatus, saveParked } from './checkpoints.ts';
import { describeFailure, type ParkedStream, ProjectionHalted } from './failures.ts';
import type { Projection } from './projection.ts';

/** Tables of a projection, and the checkpoint of the same name. */
export type Target = {
  projection: Projection;
  schema: string;
  db: Knex;
  personalData: PersonalDataReader;
  runtime: Pick<Runtime, 'now'>;
  /** How often an event overloaded Postgres where the rest of its batch did not. Without it, an overload parks nothing. */
  overloads?: Map<string, number>;
};

/** If a projection cannot process events of more streams, the fault is in the program or its tables, not in the events. */
const maxParked = 100;
/** How often an event must overload Postgres before its stream is parked. */
const maxOverloads = 3;
/** If single events of more streams overload Postgres, it is busy, and the events are not at fault. */
const maxOverloaded = 3;

/** A batch cannot be written as it is: one of its events has a fault, or there are too many at a time. */
export class BatchRefused extends Error {
  override name = 'BatchRefused';
}

/** Writes the rows of all these events, in the tables of the search path. Throws BatchRefused, and an outage's error. */
export async function projectAll(
  trx: Knex.Transaction,
  { projection, personalData }: Target,
  events: readonly RecordedEvent[],
): Promise<void> {
  const queryErrors = new Set<unknown>();
  trx.on('query-error', (error) => queryErrors.add(error));
  try {
    await projection.project(events, trx, personalData);
  } catch (error) {
    const isOutage =
      error instanceof EventStoreUnavailable ||
      error instanceof KeysUnavailable ||
      (queryErrors.has(error) && !isRefusal(error) && !isOverload(error));
    if (isOutage) throw error;
    throw new BatchRefused('The projection refused a batch', { cause: error });
  }
}

/**
 * Writes the rows of these events, except for those at fault and what follows them in their streams; resolves to these
 * streams, which are to be parked in addition to `before`. An event that overloads Postgres is at fault once it
 * has done so three times while others of its batch passed; until then, its error is thrown. Throws ProjectionHalted when
 * the streams become too many.
 */
export async function projectOrPark(
  trx: Knex.Transaction,
  target: Target,
  events: readonly RecordedEvent[],
  before: readonly ParkedStream[],
  parkedAt = target.runtime.now().toISOString(),
): Promise<ParkedStream[]> {
  const atFault: { event: RecordedEvent; cause: unknown }[] = [];
  const { overloads } = target;
  let passed = 0;

  /** Halves the events until the one at fault is alone. */
  async function take(given: readonly RecordedEvent[]): Promise<void> {
    const some = given.filter(({ streamName }) =>
      atFault.every(({ event }) => event.streamName !== streamName),
    );
    const [event] = some;
    if (!event) return;
    try {
      await trx.transaction((savepoint) => projectAll(savepoint, target, some));
      passed += some.length;
    } catch (error) {
      if (!(error instanceof BatchRefused)) throw error;
      if (some.length === 1) return leaveOut(event, error.cause);
      const middle = Math.floor(some.length / 2);
      await take(some.slice(0, middle));
      await take(some.slice(middle));
    }
  }

  function leaveOut(event: RecordedEvent, cause: unknown): void {
    atFault.push({ event, cause });
    if (isOverload(cause) && atFault.filter((each) => isOverload(each.cause)).length > maxOverloaded)
      throw cause;
    if (before.length + atFault.length > maxParked)
      throw new ProjectionHalted(
        `More than ${maxParked} streams cannot be processed, such as ${event.streamName} at revision ${event.revision}: ${describeFailure(cause)}`,
      );
  }

  await trx.raw('set local search_path to ??', [target.schema]);
  await take(events);
  return atFault.map(({ event, cause }): ParkedStream => {
    const times = (overloads?.get(event.id) ?? 0) + 1;
    if (isOverload(cause)) {
      if (passed > 0) overloads?.set(event.id, times);
      if (passed === 0 || !overloads || times < maxOverloads) throw cause;
    }
    const { revision, streamName: stream, type } = event;
    return { stream, revision, type: indexable(type), message: indexable(describeFailure(cause)), parkedAt };
  });
}

/**
 * Tries parked streams again, each in a transaction of its own: all, or the one named `only`. Resolves to those that stay
 * parked. Does nothing while the tables have another version. Throws the stores' errors: the first, once all were tried.
 */
export async function tryParkedAgain(
  target: Target & { eventStore: Pick<EventStore, 'load'> },
  only: string | null = null,
): Promise<readonly ParkedStream[]> {
  const { db, projection, schema } = target;
  const find = async () => (await projectionStatus(db)).find(({ name }) => name === schema);
  const status = await find();
  if (!status || status.version !== projection.version) return status?.parked ?? [];
  const failures: unknown[] = [];
  for (const { stream } of status.parked)
    if (only === null || stream === only)
      await tryAgain(target, stream).catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return (await find())?.parked ?? [];
}

/** The checkpoint is held meanwhile, so that no event of the stream passes by. */
async function tryAgain(
  target: Target & { eventStore: Pick<EventStore, 'load'> },
  streamName: string,
): Promise<void> {
  const { db, eventStore, projection, schema } = target;
  await db.transaction(async (trx) => {
    const status = await holdCheckpoint(trx, schema);
    const parked = status?.parked.find(({ stream }) => stream === streamName);
    if (!parked || !status?.position || status.version !== projection.version) return;
    const loaded = await eventStore.load(streamName, parked.revision);
    // Without that event, what follows it cannot be processed either.
    if (loaded[0]?.revision !== parked.revision) return;
    const { position } = status;
    const types = 'eventTypes' in projection ? projection.eventTypes : null;
    const events = loaded.filter(
      (event) => !isAfter(event.position, position) && (types?.includes(event.type) ?? true),
    );
    const others = status.parked.filter(({ stream }) => stream !== streamName);
    const added = await projectOrPark(trx, target, events, others, parked.parkedAt);
    await saveParked(trx, schema, [...others, ...added]);
  });
}

/** A stream that is parked in these tables and not, at this revision, in the others; with its reason. */
export function parkedOnlyIn(
  these: readonly ParkedStream[],
  others: readonly ParkedStream[],
): string | undefined {
  const placeOf = ({ stream, revision }: ParkedStream) => `${stream} at revision ${revision}`;
  const places = others.map(placeOf);
  const found = these.find((each) => !places.includes(placeOf(each)));
  return found && `${placeOf(found)} (${found.message})`;
}
