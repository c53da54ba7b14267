/** GET /api/v1/health: always 200, within a second, even while a store hangs. Open to everybody. */
import { once } from 'node:events';
import type { Log } from '../../kernel/log.ts';
import { toIsoWithOffset } from '../../kernel/malaysian-time.ts';
import { reasonOf } from '../../kernel/reason-of.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { tolerableDifferenceMs } from '../../postgres/shared-clock.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import { diskFullText } from '../../projections/runtime/failures.ts';
import { firstUntaken } from '../../projections/runtime/lag.ts';
import type { Followed } from '../../projections/runtime/projection.ts';
import type { Context } from '../server/context.ts';
import { answer, Health } from './bodies.ts';
import type { ApiDependencies, ContentDependencies } from './dependencies.ts';

type ProjectionHealth = Health['projections'][number];

/** A store that has not answered by then counts as down. */
const answerWithinMs = 700;
/** The stores are asked at most once in this time, however many callers ask. */
const freshForMs = 1_000;
/** A store is slow now and then: the last complete look counts until it is this old. */
const completeForMs = 5_000;
/** A projection that is further behind than this is not just busy. */
const tolerableLagMs = 10_000;

const platform = `Node.js ${process.version} on ${process.platform} ${process.arch}`;

type HealthDependencies = Pick<
  ContentDependencies,
  'clockDifferenceMs' | 'projections' | 'projectionStatus' | 'sealingRefused' | 'version'
> & {
  eventStore: Pick<ApiDependencies['eventStore'], 'loadLast' | 'firstAfter' | 'isDiskFull'>;
  runtime: Pick<Runtime, 'now' | 'monotonicMs' | 'timeout'>;
  log: Log;
};

export function createHealth(dependencies: HealthDependencies) {
  let latest: { askedMs: number; health: Promise<Health> } | null = null;
  let complete: { askedMs: number; health: Health } | null = null;

  async function lookAt(askedMs: number): Promise<Health> {
    const { health, isOverdue } = await look(dependencies);
    if (isOverdue && complete && askedMs - complete.askedMs < completeForMs)
      return { ...complete.health, timestamp: health.timestamp };
    if (!isOverdue) complete = { askedMs, health };
    return health;
  }

  return async (ctx: Context): Promise<void> => {
    const nowMs = dependencies.runtime.monotonicMs();
    if (!latest || nowMs - latest.askedMs >= freshForMs) latest = { askedMs: nowMs, health: lookAt(nowMs) };
    answer(ctx, Health, await latest.health);
  };
}

/** One look at the stores. It is overdue if one of them has not answered in time, whatever the others said. */
async function look({
  clockDifferenceMs,
  eventStore,
  log,
  projections,
  projectionStatus,
  runtime,
  sealingRefused,
  version,
}: HealthDependencies): Promise<{ health: Health; isOverdue: boolean }> {
  const signal = runtime.timeout(answerWithinMs);
  const late = once(signal, 'abort').then(() => {
    throw signal.reason;
  });
  const now = runtime.now();
  let isOverdue = false;
  const answered = async <T>(store: string, asked: Promise<T>): Promise<T | null> => {
    try {
      return await Promise.race([asked, late]);
    } catch (error) {
      isOverdue ||= signal.aborted;
      log.warn({ reason: reasonOf(error) }, `health: ${store} gave no answer`);
      return null;
    }
  };

  const projectionHealth = async (
    projection: Followed,
    statuses: readonly ProjectionStatus[],
  ): Promise<ProjectionHealth> => {
    const { name } = projection;
    const status = statuses.find((it) => it.name === name);
    const waiting = await answered(
      'the event store',
      firstUntaken(eventStore, projection, statuses, signal).then((event) => ({ event })),
    );
    const lagMs = waiting && Math.max(0, now.getTime() - (waiting.event?.created ?? now).getTime());
    // Not the reason, which may name a payment's stream, a host or a place in our code.
    const told = status?.fault?.message === diskFullText ? diskFullText : 'It cannot go on';
    const fault = status ? status.fault && told : 'It has never run';
    return { name, status: wordFor(fault, lagMs), lagMs, fault, parked: status?.parked.length ?? 0 };
  };

  const [storeAnswer, known, refusal] = await Promise.all([
    answered(
      'the event store',
      eventStore.loadLast('health').then(() => true),
    ),
    answered('Postgres', projectionStatus()).then(
      async (statuses) =>
        statuses && {
          isDiskFull: statuses.some(({ fault }) => fault?.message === diskFullText),
          projections: await Promise.all(projections.map((each) => projectionHealth(each, statuses))),
        },
    ),
    answered(
      'Postgres',
      sealingRefused().then((reason) => ({ reason })),
    ),
  ]);
  const unknown = projections.map(({ name }): ProjectionHealth => {
    return { name, status: 'unknown', lagMs: null, fault: null, parked: 0 };
  });
  const stores = {
    eventStore: storeAnswer ? stateOf(eventStore.isDiskFull()) : 'down',
    postgres: known ? stateOf(known.isDiskFull) : 'down',
  } as const;
  const isUp = stores.eventStore === 'up' && stores.postgres === 'up';
  const isOnTime = Math.abs(clockDifferenceMs() ?? 0) <= tolerableDifferenceMs;
  const seals = refusal ? (refusal.reason === null ? 'ok' : 'refused') : 'unknown';
  const isOk =
    isOnTime &&
    seals !== 'refused' &&
    known?.projections.every(({ parked, status }) => status === 'ok' && parked === 0);
  const health: Health = {
    status: isUp ? (isOk ? 'ok' : 'degraded') : 'error',
    version,
    timestamp: toIsoWithOffset(now.toISOString()),
    runtime: platform,
    ...stores,
    seals,
    projections: known?.projections ?? unknown,
  };
  return { health, isOverdue };
}

const stateOf = (isFull: boolean) => (isFull ? 'disk full' : 'up');

function wordFor(fault: string | null, lagMs: number | null): ProjectionHealth['status'] {
  if (fault !== null) return 'stopped';
  if (lagMs === null) return 'unknown';
  return lagMs > tolerableLagMs ? 'behind' : 'ok';
}
