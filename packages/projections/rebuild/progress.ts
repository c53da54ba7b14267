/** How far a rebuild is, and its speed. */
import type { Position } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
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

/** Such as `1,284,000 events, 18,400/s, 1:12 left`, as far as it is known. */
export function progressText(progress: RebuildProgress): string {
  const { events, eventsPerSecond } = progress;
  const share = shareDone(progress);
  const left = share === 0 || eventsPerSecond === 0 ? null : (events * (1 / share - 1)) / eventsPerSecond;
  return [
    `${events.toLocaleString('en')} events`,
    ...(eventsPerSecond > 0 ? [`${Math.round(eventsPerSecond).toLocaleString('en')}/s`] : []),
    ...(left === null ? [] : [`${clock(left)} left`]),
  ].join(', ');
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

const suffix = '_rebuild';

/** Where the new tables of a projection are made. */
export const rebuildSchema = (name: string) => `${name}${suffix}`;

/**
 * Rebuilds that are under way or were interrupted, each under its projection's name. Rejects within a few seconds when
 * Postgres is down.
 */
export async function rebuildStatuses(db: Knex): Promise<ProjectionStatus[]> {
  const rebuilds = (await projectionStatus(db)).filter(({ name }) => name.endsWith(suffix));
  return rebuilds.map((status) => ({ ...status, name: status.name.slice(0, -suffix.length) }));
}
