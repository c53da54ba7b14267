/**
 * EventStoreDB on the simulated network. The log, and what the server answers, are the embedded store's own; only gRPC's
 * transport is replaced (grpc-server.ts). The nodes of a cluster share one log, of which each may see only a beginning:
 * followers lag, and a leader that was frozen comes back with what it knew.
 */
import { EventEmitter } from 'node:events';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { createAppend } from '../../../packages/embedded/eventstore/append.ts';
import { createBatchAppends } from '../../../packages/embedded/eventstore/batch-append.ts';
import type { StoredEvent } from '../../../packages/embedded/eventstore/log-tables.ts';
import { createReads } from '../../../packages/embedded/eventstore/read.ts';
import { openStorage, type Storage } from '../../../packages/embedded/eventstore/storage.ts';
import { streamsService } from '../../../packages/embedded/eventstore/wire.ts';
import { answerMembers, notLeader, seenBy } from '../../support/event-store-nodes.ts';
import type { History } from '../engine/history.ts';
import type { Network } from '../engine/network.ts';
import { createProcess, type SimulatedProcess, uuidOf, within } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { copyUpTo, withKnownEnd } from './event-log.ts';
import { serve } from './grpc-server.ts';

export type EventStoreCluster = {
  /** All events that are committed, from a position on. */
  eventsFrom(position: number): StoredEvent[];
  names: readonly string[];
  /** For a client of the program. */
  url: string;
  /** The node to which a client's discovery leads at this moment. */
  discover(client: SimulatedProcess): { address: string; port: number };
  leader(): string | null;
  /** The nodes that are neither dead nor frozen. */
  running(): readonly string[];
  /** Whether a node that has lost its lead unnoticed answers reads. */
  servesOldState(): boolean;
  /** SIGSTOP on the leader; the others elect another. It comes back after a while and still believes in itself. */
  freezeLeader(forMs: number): void;
  /** SIGKILL on a node, which starts again later. */
  kill(name: string, forMs: number): void;
  /** SIGKILL on the leader while it writes the next append, which it answers never and has stored completely or not. */
  tearNextAppend(forMs: number, isStored: boolean): void;
  /** Takes the log back to an older copy, and starts every node again. */
  restore(position: number): void;
  lastPosition(): number;
  /** Writes an event as it stands: a fault of the log. */
  inject(stream: string, event: { type: string; data: unknown; metadata: unknown }): Promise<void>;
  /** While full, no append is stored. */
  setFull(full: boolean): void;
  /** From now on the disk takes so long for an append, which is stored then, whether or not anybody still waits for it. */
  setSlow(delayMs: number): void;
  /** Frees the memory of the log. Nothing may use it any more. */
  close(): void;
};

type Node = {
  name: string;
  process: SimulatedProcess;
  commits: EventEmitter<{ commit: [] }>;
  /** The last position that has reached it. */
  seen: number;
  /** Where it believes the leader is; null during an election. */
  believes: string | null;
};

const port = 2113;

export function createEventStoreCluster({
  names,
  scheduler,
  network,
  random,
  history,
}: {
  names: readonly string[];
  scheduler: Scheduler;
  network: Network;
  random: Random;
  history: History;
}): EventStoreCluster {
  // What no node writes has the time of the simulation, too.
  const clerk = createProcess({ name: 'event store', scheduler, random: random.fork('clerk') });
  let storage = within(clerk, () => withKnownEnd(openStorage(':memory:')));
  let leader: string | null = names[0] ?? null;
  let full = false;
  let slowMs = 0;
  let torn: { forMs: number; isStored: boolean } | null = null;
  const nodes = new Map<string, Node>();

  const nodeNamed = (name: string): Node => {
    const node = nodes.get(name);
    if (!node) throw new Error(`There is no node ${name}`);
    return node;
  };

  function boot(name: string): void {
    const process = createProcess({ name, scheduler, random: random.fork(name) });
    const commits = new EventEmitter<{ commit: [] }>().setMaxListeners(0);
    const node: Node = { name, process, commits, seen: storage.lastPosition(), believes: leader };
    nodes.set(name, node);
    const view = viewOf(node);
    process.enter(() =>
      serve(process, network, `${name}:${port}`, {
        services: [
          [streamsService, { ...createReads(view), ...createBatchAppends(view), append: createAppend(view) }],
          [gossip.GossipService, { read: answerMembers(names.map((each) => ({ host: each, port }))) }],
        ],
        refuse: (_, metadata) =>
          metadata.get('requires-leader').includes('true') && node.believes !== name
            ? notLeader(node.believes ?? '', port)
            : null,
      }),
    );
  }

  /** The log as a node sees it; an append goes to the leader. */
  function viewOf(node: Node): Storage {
    const view = seenBy(
      () => storage,
      () => node.seen,
    );
    return {
      ...view,
      commits: node.commits,
      async append(request) {
        // It was accepted in time, and waits for the disk, perhaps for longer than whoever sent it.
        if (slowMs > 0) {
          await node.process.runtime.sleep(slowMs);
          request = { ...request, deadlineMs: Number.POSITIVE_INFINITY };
        }
        const isDeposed = node.believes === node.name && leader !== node.name;
        // A leader that is none any more finds no majority: the append is never answered.
        if (isDeposed || leader === null) return new Promise(() => {});
        // As SQLite says it.
        if (full) throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        if (torn) {
          const { forMs, isStored } = torn;
          torn = null;
          // What is there in part is cut off when the node starts.
          if (isStored) await storage.append(request);
          history.tell(`event store: it has ${isStored ? 'just stored' : 'half'} an append`);
          kill(node.name, forMs);
          return new Promise(() => {});
        }
        const result = await storage.append(request);
        spread();
        return result;
      },
    };
  }

  /** Others hear of new events a little later than the leader. */
  function spread(): void {
    const position = storage.lastPosition();
    for (const node of nodes.values()) {
      const lagMs = node.name === leader ? 0 : random.integer(1, 400);
      node.process.after(lagMs, () => reach(node, position));
    }
  }

  function reach(node: Node, position: number): void {
    if (node.believes === node.name && leader !== node.name) return;
    if (position <= node.seen) return;
    node.seen = position;
    node.commits.emit('commit');
  }

  function elect(): void {
    const candidates = [...nodes.values()].filter(({ process }) => process.state() === 'running');
    const majority = candidates.length * 2 > names.length;
    const elected = majority ? random.pick(candidates) : null;
    leader = elected?.name ?? null;
    history.tell(`event store: ${leader ?? 'nobody'} leads`);
    if (!elected) return;
    for (const node of candidates) node.believes = leader;
    elected.seen = storage.lastPosition();
    elected.commits.emit('commit');
    spread();
  }

  function lead(name: string): void {
    if (leader !== name) return;
    leader = null;
    for (const node of nodes.values()) if (node.name !== name) node.believes = null;
    scheduler.after(random.integer(1_000, 4_000), elect);
  }

  function kill(name: string, forMs: number): void {
    const { process } = nodeNamed(name);
    if (process.state() === 'dead') return;
    history.tell(`event store: ${name} is killed for ${forMs} ms`);
    process.kill();
    if (names.length > 1) lead(name);
    scheduler.after(forMs, () => {
      if (nodeNamed(name).process !== process) return;
      boot(name);
      if (leader === null && names.length > 1) scheduler.after(500, elect);
      history.tell(`event store: ${name} runs again`);
    });
  }

  for (const name of names) boot(name);

  return {
    names,
    url: `esdb://${names.map((name) => `${name}:${port}`).join(',')}?tls=false`,
    eventsFrom: (position) => storage.page({ from: position, direction: 'forwards', limit: 256 }),
    lastPosition: () => storage.lastPosition(),
    leader: () => leader,
    running: () => names.filter((name) => nodeNamed(name).process.state() === 'running'),
    servesOldState: () =>
      [...nodes.values()].some(
        ({ believes, name, process }) =>
          believes === name && leader !== name && process.state() === 'running',
      ),
    discover(client) {
      const alive = names.map(nodeNamed).filter(({ process }) => process.state() === 'running');
      const asked = alive.length > 0 ? client.random.pick(alive) : null;
      const chosen = asked?.believes ?? asked?.name ?? names[0];
      return { address: chosen ?? '', port };
    },
    freezeLeader(forMs) {
      const name = leader;
      if (name === null) return;
      const node = nodeNamed(name);
      history.tell(`event store: ${name} freezes for ${forMs} ms`);
      node.process.pause();
      if (names.length > 1) lead(name);
      scheduler.after(forMs, () => {
        if (node.process.state() !== 'paused') return;
        history.tell(`event store: ${name} comes back`);
        node.process.resume();
        if (names.length === 1) return;
        // Without it there was no majority.
        if (leader === null) scheduler.after(500, elect);
        // For a while it still believes that it leads.
        scheduler.after(random.integer(500, 5_000), () => {
          node.believes = leader;
          reach(node, storage.lastPosition());
        });
      });
    },
    kill,
    tearNextAppend(forMs, isStored) {
      torn = { forMs, isStored };
    },
    restore(position) {
      history.tell(`event store: restored from a copy that ends at ${position}`);
      for (const node of nodes.values()) node.process.kill();
      storage = copyUpTo(storage, position);
      for (const name of names) boot(name);
    },
    async inject(stream, { type, data, metadata }) {
      history.tell(`event store: ${type} is in a stream by a fault`);
      const event = {
        id: uuidOf(random.bytes(16)),
        type,
        contentType: 'application/json',
        data: Buffer.from(JSON.stringify(data)),
        metadata: Buffer.from(JSON.stringify(metadata)),
      } as const;
      const deadlineMs = Number.POSITIVE_INFINITY;
      const append = { stream, expected: 'any', events: [event], deadlineMs } as const;
      await within(clerk, () => storage.append(append));
      spread();
    },
    setFull(next) {
      full = next;
      history.tell(`event store: its disk is ${next ? 'full' : 'no longer full'}`);
    },
    setSlow(delayMs) {
      slowMs = delayMs;
      history.tell(`event store: its disk takes ${delayMs} ms`);
    },
    close: () => storage.close(),
  };
}
