/** GET /api/v1/health: always 200, within a second, whatever hangs; the body says how things are. Open to everybody. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import { firstUntaken } from '../../projections/runtime/lag.ts';
import type { Projection } from '../../projections/runtime/projection.ts';
import type { Context } from '../server/context.ts';
import type { ContentDependencies } from './dependencies.ts';

export type ProjectionHealth = {
  name: string;
  /** `unknown` when a store did not say. */
  status: 'ok' | 'behind' | 'stopped' | 'unknown';
  /** How long the oldest event that it has not taken has been waiting; null when that is not known. */
  lagMs: number | null;
  /** That it stands still, in words for everybody: the log says before which event and why. */
  fault: string | null;
};

export type Health = {
  status: 'ok' | 'degraded' | 'error';
  version: string;
  timestamp: string;
  runtime: string;
  eventStore: 'up' | 'down';
  postgres: 'up' | 'down';
  projections: ProjectionHealth[];
};

/** A store that has not answered by then counts as down. */
const answerWithinMs = 700;
/** However many ask, the stores are looked at once in this time. */
const freshForMs = 1_000;
/** A projection that is further behind than this is not merely busy. */
const tolerableLagMs = 10_000;

const runtime = `Node.js ${process.version} on ${process.platform} ${process.arch}`;

type Parts = Pick<ContentDependencies, 'projections' | 'projectionStatus' | 'version'> & {
  eventStore: Pick<EventStore, 'loadLast' | 'firstAfter'>;
  clock: () => Date;
  log: Log;
};

export function createHealth(parts: Parts) {
  let latest: Promise<Health> | null = null;
  return async (ctx: Context): Promise<void> => {
    if (!latest) {
      latest = look(parts);
      const forget = () => {
        latest = null;
      };
      latest.then(() => sleep(freshForMs, undefined, { ref: false })).then(forget, forget);
    }
    ctx.body = await latest;
  };
}

async function look({
  clock,
  eventStore,
  log,
  projections,
  projectionStatus,
  version,
}: Parts): Promise<Health> {
  const signal = AbortSignal.timeout(answerWithinMs);
  const answered = async <T>(what: string, asked: Promise<T>): Promise<T | null> => {
    try {
      return await unlessAborted(asked, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, `health: ${what} gave no answer`);
      return null;
    }
  };

  const healthOf = async (
    projection: Projection,
    statuses: readonly ProjectionStatus[],
  ): Promise<ProjectionHealth> => {
    const { name } = projection;
    const status = statuses.find((it) => it.name === name);
    const waiting = await answered(
      'the event store',
      firstUntaken(eventStore, projection, statuses, signal).then((event) => ({ event })),
    );
    const lagMs = waiting && Math.max(0, clock().getTime() - (waiting.event?.created ?? clock()).getTime());
    const fault = status ? faultText(status) : 'It has never run';
    return { name, status: wordFor(fault, lagMs), lagMs, fault };
  };

  const [storeAnswer, projectionsHealth] = await Promise.all([
    answered(
      'the event store',
      eventStore.loadLast('health').then(() => true),
    ),
    answered('Postgres', projectionStatus()).then(
      (statuses) => statuses && Promise.all(projections.map((projection) => healthOf(projection, statuses))),
    ),
  ]);
  const unknown = projections.map(({ name }) => ({
    name,
    status: 'unknown' as const,
    lagMs: null,
    fault: null,
  }));
  const health = {
    version,
    timestamp: clock().toISOString(),
    runtime,
    eventStore: storeAnswer ? ('up' as const) : ('down' as const),
    postgres: projectionsHealth ? ('up' as const) : ('down' as const),
    projections: projectionsHealth ?? unknown,
  };
  return { status: overall(health), ...health };
}

/** What stopped it may name a payment's stream, a host or a place in our code: the kind of event is enough here. */
function faultText({ fault }: ProjectionStatus): string | null {
  if (!fault) return null;
  return fault.event ? `It cannot take an event of type ${fault.event.type}` : 'It cannot go on';
}

function wordFor(fault: string | null, lagMs: number | null): ProjectionHealth['status'] {
  if (fault !== null) return 'stopped';
  if (lagMs === null) return 'unknown';
  return lagMs > tolerableLagMs ? 'behind' : 'ok';
}

function overall({
  eventStore,
  postgres,
  projections,
}: Pick<Health, 'eventStore' | 'postgres' | 'projections'>): Health['status'] {
  if (eventStore === 'down' || postgres === 'down') return 'error';
  return projections.every(({ status }) => status === 'ok') ? 'ok' : 'degraded';
}

/** Settles as `work` does, or throws when the signal aborts first; `work` itself goes on unheard. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const give = () => reject(signal.reason);
  signal.addEventListener('abort', give);
  if (signal.aborted) give();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', give);
  }
}
