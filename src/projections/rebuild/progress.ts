/** How far a rebuild is, and its speed. */
import type { Knex } from 'knex';
import type { Position } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { type ProjectionStatus, projectionStatus } from '../runtime/checkpoints.ts';

export type RebuildProgress = {
  /** Taken so far, from the first event of the log on. */
  events: number;
  position: Position | null;
  /** The end of the log when it was last read. */
  head: Position;
  eventsPerSecond: number;
};

/** Speed over the last ten seconds. */
const windowMs = 10_000;

/** A meter of events per second; feed it the count as it grows. */
export function createMeter(runtime: Pick<Runtime, 'monotonicMs'>) {
  const samples: { atMs: number; events: number }[] = [];
  return (events: number): number => {
    const atMs = runtime.monotonicMs();
    samples.push({ atMs, events });
    while (samples.length > 2 && atMs - (samples[1]?.atMs ?? atMs) > windowMs) samples.shift();
    const [first] = samples;
    const elapsedMs = first ? atMs - first.atMs : 0;
    return first && elapsedMs > 0 ? ((events - first.events) * 1000) / elapsedMs : 0;
  };
}

/** From 0 to 1: the share of the log, not of the projection's own events. */
export function shareDone({ position, head }: Pick<RebuildProgress, 'position' | 'head'>): number {
  if (!position) return 0;
  return Math.min(1, Number(position.commit) / Math.max(1, Number(head.commit)));
}

/** At the present speed; null while that is not known. */
export function secondsLeft(progress: RebuildProgress): number | null {
  const share = shareDone(progress);
  if (share === 1) return 0;
  if (progress.eventsPerSecond === 0 || share === 0) return null;
  return (progress.events * (1 / share - 1)) / progress.eventsPerSecond;
}

const suffix = '_rebuild';

/** Where the new tables of a projection are made. */
export const rebuildSchema = (name: string) => `${name}${suffix}`;

/**
 * Rebuilds that are under way or were interrupted, each under its projection's name. Rejects within a few seconds when
 * Postgres is down.
 */
export async function rebuildStandings(db: Knex): Promise<ProjectionStatus[]> {
  const rebuilds = (await projectionStatus(db)).filter(({ name }) => name.endsWith(suffix));
  return rebuilds.map((status) => ({ ...status, name: status.name.slice(0, -suffix.length) }));
}
