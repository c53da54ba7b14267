/** What health has to tell of, by the simulated world and the rows, without asking the program. */
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { tolerableDifferenceMs } from '@ledger/postgres/shared-clock.ts';
import { type Followed, selectionOf } from '@ledger/projections/runtime/projection.ts';
import { erasedKeysList } from '../../../src/personal-data/erased-keys.ts';
import { allProjections } from '../../../src/projections/all.ts';
import { details } from '../../../src/projections/details/projection.ts';
import { deliveryList } from '../../../src/to-do/delivery-list.ts';
import { requeryList } from '../../../src/to-do/requery-list.ts';
import type { Network } from '../engine/network.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { unreadableType } from '../plan.ts';
import type { Nodes } from '../program/nodes.ts';
import type { EventStoreCluster } from '../stores/event-store.ts';
import type { SimulatedPostgres } from '../stores/postgres.ts';

/** Health waits for a store for 700 ms. */
const tooLateMs = 700;
/** A little more than what health tolerates: a clock drifts, and is compared with another. */
const wrongClockMs = tolerableDifferenceMs + 1_000;
/** Health tolerates 10 s by the time at which an event was stored, which is seen here up to a second later. */
const behindMs = 11_000;
/** A projection looks nine times before it believes that its log was replaced. */
const older = 'is of another log';
const olderWithinMs = 60_000;
/** A process compares its clock every 10 s. */
const wrongClock = 'a wrong clock';
const comparedWithinMs = 15_000;
/** What waits for a projection finds no room: it says so when it has tried. */
const full = 'PostgreSQL has no room';
const triedWithinMs = 10_000;
/** Nobody knows for longer whether the disk of the event store is still full. */
const fullForMs = 60_000;

/** Of these, health says `error`; of all else at least `degraded`. */
export const outages: readonly string[] = [
  'no event store',
  'no PostgreSQL',
  'PostgreSQL takes no writes',
  'a full disk',
  full,
];

const followed: readonly Followed[] = [...allProjections, erasedKeysList, deliveryList, requeryList];

export type World = {
  nodes: Nodes;
  network: Network;
  cluster: EventStoreCluster;
  postgres: SimulatedPostgres;
  scheduler: Scheduler;
};

/** What is true, and since when. */
type Since = Map<string, number>;

/** `pauses`: how many times longer those of the program are. */
export function createWhatFails(
  { nodes, network, cluster, postgres, scheduler }: World,
  pauses: () => number,
) {
  const readLog = createReadLog(cluster, scheduler);
  const around = new Map<string, Since>();
  const inRows: Since = new Map();

  const keep = (since: Since, found: readonly string[]): void => {
    for (const each of since.keys()) if (!found.includes(each)) since.delete(each);
    for (const each of found) if (!since.has(each)) since.set(each, scheduler.nowMs());
  };

  const clockErrorMs = (host: string) => Math.abs(nodes.process(host).nowMs() - postgres.nowMs());
  const wasFullMs = (host: string) => scheduler.nowMs() - nodes.refusedAtMs(host);

  function lookAround(host: string): void {
    const reached = cluster.running().filter((node) => network.lateMs(host, node) < tooLateMs);
    // That a stream does not exist only a majority may say.
    const hasMajority = reached.length * 2 > cluster.names.length;
    const hasPostgres = postgres.isUp() && network.lateMs(host, 'postgres') < tooLateMs;
    const found = {
      'no event store': !hasMajority || !reached.some((node) => node === cluster.leader()),
      'no PostgreSQL': !hasPostgres,
      'PostgreSQL takes no writes': hasPostgres && postgres.writes() === 'read only',
      [wrongClock]: hasPostgres && clockErrorMs(host) > wrongClockMs,
      'a full disk': wasFullMs(host) < fullForMs - 1_000,
    };
    const since = around.get(host) ?? new Map();
    around.set(host, since);
    keep(
      since,
      Object.entries(found).flatMap(([what, isTrue]) => (isTrue ? [what] : [])),
    );
  }

  return {
    /** To be called every second while something may change. */
    look(hosts: readonly string[]): void {
      readLog();
      for (const host of hosts) lookAround(host);
    },

    /**
     * What is true for a process that answers requests, and since when the program knows it. The rows are as they were
     * when they were read last.
     */
    of: (host: string): ReadonlyMap<string, number> =>
      new Map(
        [...(around.get(host) ?? []), ...inRows].map(([what, ms]) => [what, ms + noticedMs(what) * pauses()]),
      ),

    /** Whether nothing at all keeps it from its stores. */
    isUntroubled(host: string): boolean {
      const stores = [...cluster.names, 'postgres'];
      const isWhole = cluster.leader() !== null && cluster.running().length === cluster.names.length;
      const isNear = stores.every((store) => network.lateMs(host, store) === 0);
      const isRight = clockErrorMs(host) < tolerableDifferenceMs - 1_000;
      return (
        isWhole &&
        postgres.isUp() &&
        postgres.writes() === 'taken' &&
        !postgres.isCrowded() &&
        isNear &&
        isRight &&
        wasFullMs(host) > fullForMs
      );
    },

    async readRows(): Promise<void> {
      const log = readLog();
      const unreadable = log.filter(({ type }) => type === unreadableType);
      const nowMs = scheduler.nowMs();
      const rows = await postgres.read(
        `select name, commit_position, last_event ->> 'commit', last_event ->> 'id' from checkpoints`,
      );
      const found = followed.flatMap((each) => {
        const row = rows.find(([name]) => name === each.name) ?? [];
        const [, commit = '', lastCommit = '', lastId = ''] = row;
        const position = Number(commit);
        const isOfIt = isSelected(each);
        const waiting = log.slice(log.findLastIndex((it) => it.position <= position) + 1).find(isOfIt);
        // The details of a payment are in its first event: others cannot keep them from being whole.
        const readsAll = each.name !== details.name;
        const isParked = readsAll && unreadable.some((event) => event.position <= position && isOfIt(event));
        const last = log.findLast((event) => event.position === Number(lastCommit));
        const isOlder = position > cluster.lastPosition() || (lastId !== '' && last?.id !== lastId);
        const findsNoRoom = postgres.writes() === 'no room' && waiting !== undefined;
        return [
          ...(findsNoRoom ? [full] : []),
          ...(waiting && nowMs - waiting.seenMs > behindMs ? [`${each.name} is behind`] : []),
          ...(isParked ? [`${each.name} lacks a stream`] : []),
          ...(isOlder ? [`${each.name} ${older}`] : []),
        ];
      });
      const refused = await postgres.read('select from log_checkpoint where refused is not null');
      keep(inRows, refused.length > 0 ? [...found, 'the log is not sealed'] : found);
    },
  };
}

function noticedMs(what: string): number {
  if (what === wrongClock) return comparedWithinMs;
  if (what === full) return triedWithinMs;
  return what.endsWith(older) ? olderWithinMs : 0;
}

type Seen = { position: number; stream: string; type: string; id: string; seenMs: number };

/** Reads what is new; returns all events of the log as it is now. */
function createReadLog(cluster: EventStoreCluster, scheduler: Scheduler): () => readonly Seen[] {
  let log: Seen[] = [];
  const last = () => log.at(-1)?.position ?? 0;
  return () => {
    // An older copy was restored.
    if (last() > cluster.lastPosition())
      log = log.filter(({ position }) => position <= cluster.lastPosition());
    for (let page = cluster.eventsFrom(last() + 1); page.length > 0; page = cluster.eventsFrom(last() + 1))
      for (const { position, stream, type, message } of page) {
        const event = streams.ReadResp.deserializeBinary(message).getEvent()?.getEvent();
        const id = event?.getId()?.getString() ?? '';
        log.push({ position, stream, type, id, seenMs: scheduler.nowMs() });
      }
    return log;
  };
}

function isSelected(projection: Followed): (event: { stream: string; type: string }) => boolean {
  const selection = selectionOf(projection);
  if ('eventTypes' in selection) return ({ type }) => selection.eventTypes.includes(type);
  return ({ stream }) => selection.streamPrefixes.some((prefix) => stream.startsWith(prefix));
}
