/** How far rebuilds are, for the page and for those who watch it. */

import { readRebuildEvent } from '../../../events/codec.ts';
import { evolveRebuilds, noRebuilds, projectionStream, type Rebuilds } from '../../../events/rebuild.ts';
import type { EventStore, Position } from '../../../eventstore/event-store.ts';
import type { Runtime } from '../../../kernel/runtime.ts';
import { createMeter, secondsLeft, shareDone } from '../../../projections/rebuild/progress.ts';
import type { RebuildStanding } from '../../../projections/rebuild/queries.ts';

export type RebuildView = {
  name: string;
  /** Waiting has no copy yet; interrupted has one, and nobody was asked to go on. */
  state: 'none' | 'waiting' | 'running' | 'interrupted';
  percent: number;
  /** Such as `1,284,000 events, 18,400/s, 72 s left`; empty where nothing is known. */
  text: string;
  last: Rebuilds['last'];
};

/** So many watch at once; each look is shared by all who ask within a second. */
const freshForMs = 900;

type Dependencies = {
  names: readonly string[];
  eventStore: Pick<EventStore, 'load' | 'head'>;
  standings: () => Promise<readonly RebuildStanding[]>;
  runtime: Pick<Runtime, 'monotonicMs'>;
};

/** Throws EventStoreUnavailable, and what the query throws. */
export function createLookAtRebuilds({
  names,
  eventStore,
  standings,
  runtime,
}: Dependencies): () => Promise<RebuildView[]> {
  const meters = new Map<string, ReturnType<typeof createMeter>>();
  let latest: { at: number; views: Promise<RebuildView[]> } | null = null;

  async function look(): Promise<RebuildView[]> {
    const [found, head, ...histories] = await Promise.all([
      standings(),
      eventStore.head(),
      ...names.map((name) => eventStore.load(projectionStream(name))),
    ]);
    return names.map((name, index) => {
      const rebuilds = (histories[index] ?? []).map(readRebuildEvent).reduce(evolveRebuilds, noRebuilds);
      const standing = found.find((each) => each.name === name);
      if (!standing) meters.delete(name);
      return viewOf(name, rebuilds, standing, head);
    });
  }

  function viewOf(
    name: string,
    { requestedAt, last }: Rebuilds,
    standing: RebuildStanding | undefined,
    head: Position | null,
  ): RebuildView {
    const isAsked = requestedAt !== null;
    if (!standing || !head) return { name, state: isAsked ? 'waiting' : 'none', percent: 0, text: '', last };
    const { events, position } = standing;
    const meter = meters.get(name) ?? createMeter(runtime);
    meters.set(name, meter);
    const eventsPerSecond = meter(events);
    const left = secondsLeft({ events, position, head, eventsPerSecond });
    const text = [
      `${events.toLocaleString('en')} events`,
      ...(isAsked && eventsPerSecond > 0 ? [`${Math.round(eventsPerSecond).toLocaleString('en')}/s`] : []),
      ...(isAsked && left !== null ? [`${Math.ceil(left).toLocaleString('en')} s left`] : []),
    ].join(', ');
    const percent = Math.floor(shareDone({ position, head }) * 100);
    return { name, state: isAsked ? 'running' : 'interrupted', percent, text, last };
  }

  return () => {
    const nowMs = runtime.monotonicMs();
    if (!latest || nowMs - latest.at > freshForMs) latest = { at: nowMs, views: look() };
    return latest.views;
  };
}
