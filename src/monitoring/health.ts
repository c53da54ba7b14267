/** How the stores and the projections are, even while a store hangs: within a second for health and readiness. */
import { once } from 'node:events';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { sharedAnswer } from '@ledger/kernel/shared-answer.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { briefReasonOf, isPostgresError } from '@ledger/postgres/error-codes.ts';
import { isReadOnly } from '@ledger/postgres/requirements.ts';
import { tolerableDifferenceMs } from '@ledger/postgres/shared-clock.ts';
import { type ProjectionStatus, projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { diskFullText } from '@ledger/projections/runtime/failures.ts';
import { lagMsOf } from '@ledger/projections/runtime/lag.ts';
import type { Followed } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import { sealingRefused } from '../audit/seals/sealing-status.ts';

type ProjectionHealth = ReturnType<typeof healthOf>;

/** With `disk full` and `read only` it reads and does not write; with `too many connections` it lets us do neither. */
type StoreState = 'up' | 'down' | 'disk full' | 'read only' | 'too many connections';

export type Look = {
  status: 'ok' | 'degraded' | 'error';
  at: Date;
  eventStore: StoreState;
  postgres: StoreState;
  projections: readonly ProjectionHealth[];
  /** The machine's time of day minus PostgreSQL's; null until it is known. */
  clockDifferenceMs: number | null;
};

/** So that health answers within a second. */
const usualAnswerMs = 700;
/** The stores are asked at most once in this time, however many callers ask. */
const freshForMs = 1_000;
/** A store is slow now and then: the last complete look counts until it is this old. */
const completeForMs = 5_000;
/** Where the stores are asked less often than that, it counts for one look, until it is this old. */
const completeOnceForMs = 60_000;
/** A projection that is further behind than this is not just busy. */
const tolerableLagMs = 10_000;

export type LookDependencies = {
  eventStore: Pick<EventStore, 'loadLast' | 'firstAfter'> & {
    /** Whether it has no room for an event. A process that appends knows it from what it appended; others have to ask. */
    isDiskFull(): boolean | Promise<boolean>;
  };
  /** The projections that should be running. */
  projections: readonly Followed[];
  /** Where they stand. Rejects when Postgres is down. */
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
  /** Why the log is not sealed any more; null if it is. Rejects when Postgres is down. */
  sealingRefused(): Promise<string | null>;
  /** Whether Postgres takes no writes, as a replica does. Rejects when it is down. */
  isReadOnly(): Promise<boolean>;
  /** How wrong the clock of this machine is, if that is known. */
  clockDifferenceMs(): number | null;
  /** A store that has not answered by then counts as down; 700 ms if it is not given. */
  answerWithinMs?: number;
  runtime: Pick<Runtime, 'now' | 'monotonicMs' | 'timeout'>;
  log: Log;
};

/** The answers of Postgres to what a look asks. */
export const answersFrom = (db: Knex) => ({
  projectionStatus: () => projectionStatus(db),
  sealingRefused: () => sealingRefused(db),
  isReadOnly: () => isReadOnly(db),
});

/** Never rejects. */
export function createLook(dependencies: LookDependencies): () => Promise<Look> {
  let complete: { askedMs: number; found: Look } | null = null;
  /** How many looks in a row were overdue. */
  let overdueLooks = 0;
  const warn = warnSeldom(dependencies.log, dependencies.runtime);

  async function lookNow(): Promise<Look> {
    const askedMs = dependencies.runtime.monotonicMs();
    const { found, isOverdue } = await look(dependencies, warn);
    overdueLooks = isOverdue ? overdueLooks + 1 : 0;
    const countsForMs = overdueLooks === 1 ? completeOnceForMs : completeForMs;
    if (isOverdue && complete && askedMs - complete.askedMs < countsForMs)
      return { ...complete.found, at: found.at };
    if (!isOverdue) complete = { askedMs, found };
    return found;
  }

  return sharedAnswer(lookNow, freshForMs, dependencies.runtime);
}

/** One look at the stores. It is overdue if one of them has not answered in time, whatever the others said. */
async function look(
  dependencies: LookDependencies,
  warn: ReturnType<typeof warnSeldom>,
): Promise<{ found: Look; isOverdue: boolean }> {
  const { answerWithinMs = usualAnswerMs, eventStore, projections, runtime } = dependencies;
  const signal = runtime.timeout(answerWithinMs);
  const late = once(signal, 'abort').then(() => {
    throw signal.reason;
  });
  const now = runtime.now();
  let isOverdue = false;
  let refused: StoreState = 'down';
  const answered = async <T>(store: string, asked: Promise<T>): Promise<T | null> => {
    try {
      return await Promise.race([asked, late]);
    } catch (error) {
      isOverdue ||= signal.aborted;
      if (isPostgresError(error, 'tooManyConnections')) refused = 'too many connections';
      if (isPostgresError(error, 'diskFull')) refused = 'disk full';
      warn({ reason: briefReasonOf(error) }, `health: ${store} gave no answer`);
      return null;
    }
  };

  const projectionHealth = async (projection: Followed, statuses: readonly ProjectionStatus[]) => {
    const lag = lagMsOf(eventStore, projection, statuses, { now, signal });
    return healthOf(projection, statuses, await answered('the event store', lag));
  };

  const [storeState, known] = await Promise.all([
    answered(
      'the event store',
      eventStore.loadLast('health').then(async () => stateOf(await eventStore.isDiskFull())),
    ),
    answered(
      'Postgres',
      Promise.all([
        dependencies.projectionStatus(),
        dependencies.sealingRefused(),
        dependencies.isReadOnly(),
      ]),
    ).then(async (found) => {
      if (!found) return null;
      const [statuses, refused, isReadOnly] = found;
      const isDiskFull = statuses.some(({ fault }) => fault?.message === diskFullText);
      return {
        isSealed: refused === null,
        state: isReadOnly ? 'read only' : stateOf(isDiskFull),
        projections: await Promise.all(projections.map((each) => projectionHealth(each, statuses))),
      };
    }),
  ]);
  const unknown = projections.map(({ name }): ProjectionHealth => {
    return { name, status: 'unknown', lagMs: null, fault: null, parked: 0 };
  });
  const isUp = storeState === 'up' && known?.state === 'up';
  const difference = dependencies.clockDifferenceMs();
  const isOnTime = Math.abs(difference ?? 0) <= tolerableDifferenceMs;
  const isOk = isOnTime && known?.isSealed && known.projections.every(isWell);
  const found: Look = {
    status: isUp ? (isOk ? 'ok' : 'degraded') : 'error',
    at: now,
    eventStore: storeState ?? 'down',
    postgres: known?.state ?? refused,
    projections: known?.projections ?? unknown,
    clockDifferenceMs: difference,
  };
  return { found, isOverdue };
}

const stateOf = (isFull: boolean): StoreState => (isFull ? 'disk full' : 'up');

function healthOf({ name }: Followed, statuses: readonly ProjectionStatus[], lagMs: number | null) {
  const status = statuses.find((it) => it.name === name);
  // The reason is left out: it may name a payment's stream, a host or a place in our code.
  const told = status?.fault?.message === diskFullText ? diskFullText : 'It cannot continue';
  const fault = status ? status.fault && told : 'It has never run';
  return {
    name,
    /** `unknown` when a store did not answer. */
    status: statusWord(fault !== null, lagMs),
    /** How long the oldest unprocessed event has been waiting; null when that is not known. */
    lagMs,
    /** Only that it has stopped: the log says before which event and why. */
    fault,
    /** Streams that it leaves out since an event that it could not process. */
    parked: status?.parked.length ?? 0,
  };
}

const isWell = ({ parked, status }: ProjectionHealth): boolean => status === 'ok' && parked === 0;

export function statusWord(isStopped: boolean, lagMs: number | null) {
  if (isStopped) return 'stopped';
  if (lagMs === null) return 'unknown';
  return lagMs > tolerableLagMs ? 'behind' : 'ok';
}
