/**
 * A double of an EventStoreDB cluster: three nodes on real ports, before one embedded store. One leads; the others lag
 * behind it; the members gossip. A node can be frozen, as by SIGSTOP: connections to it stay open and nothing answers.
 * The others then elect another leader. When the node comes back, it believes for a while that it still leads, gossips
 * so, and answers from the log as it knew it.
 */
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import { Server as GrpcServer, type Metadata, ServerCredentials } from '@grpc/grpc-js';
import { createAppend } from '../../packages/embedded/eventstore/append.ts';
import { createBatchAppends } from '../../packages/embedded/eventstore/batch-append.ts';
import { createReads } from '../../packages/embedded/eventstore/read.ts';
import { openStorage, type Storage } from '../../packages/embedded/eventstore/storage.ts';
import { streamsService } from '../../packages/embedded/eventstore/wire.ts';
import { answerMembers, type Member, notLeader, seenBy } from './event-store-nodes.ts';

export type ClusterOptions = {
  file?: string;
  /** How far followers are behind. */
  lagMs?: number;
  /** From the loss of a leader to the next one. */
  electionMs?: number;
  /** How long a node that comes back still believes that it leads. */
  delusionMs?: number;
};

type Node = {
  number: number;
  port: number;
  server: GrpcServer;
  gate: Gate;
  commits: EventEmitter<{ commit: [] }>;
  /** The last position that has reached it. */
  seen: number;
  /** The number of the node that leads, as far as it knows; null during an election. */
  believes: number | null;
};

export type EventStoreCluster = Awaited<ReturnType<typeof startEventStoreCluster>>;

export async function startEventStoreCluster({
  file = ':memory:',
  lagMs = 20,
  electionMs = 300,
  delusionMs = 500,
}: ClusterOptions = {}) {
  const storage = openStorage(file);
  const nodes: Node[] = [];
  let leader: number | null = 0;
  /** How often a node was asked which nodes there are. */
  let timesAsked = 0;
  /** Further nodes that the others gossip of. */
  const more: Member[] = [];

  for (const number of [0, 1, 2]) nodes.push(await startNode(number));

  async function startNode(number: number): Promise<Node> {
    const commits = new EventEmitter<{ commit: [] }>().setMaxListeners(0);
    const server = new GrpcServer({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
    const inner = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    const gate = await openGate(inner);
    const node = {
      number,
      port: gate.port,
      server,
      gate,
      commits,
      seen: storage.lastPosition(),
      believes: leader,
    };
    const view = viewOf(node);
    const { read } = createReads(view);
    const { batchAppend } = createBatchAppends(view);
    const ofLeader =
      <Call extends { metadata: Metadata; emit(event: string, error: unknown): unknown }>(
        handle: (call: Call) => void,
      ) =>
      (call: Call) => {
        const isRefused = call.metadata.get('requires-leader').includes('true') && node.believes !== number;
        if (isRefused) call.emit('error', notLeader('127.0.0.1', portOf(node.believes)));
        else handle(call);
      };
    server.addService(streamsService, {
      read: ofLeader(read),
      batchAppend: ofLeader(batchAppend),
      append: createAppend(view),
    });
    server.addService(gossip.GossipService, { read: answerMembers(() => membersSeenBy(node)) });
    return node;
  }

  const portOf = (number: number | null) => (number === null ? 0 : (nodes[number]?.port ?? 0));

  /** The log as a node sees it. A leader that is none any more finds no majority: it never answers an append. */
  function viewOf(node: Node): Storage {
    return {
      ...seenBy(
        () => storage,
        () => node.seen,
      ),
      commits: node.commits,
      async append(request) {
        if (leader !== node.number) return await new Promise(() => {});
        const result = await storage.append(request);
        for (const other of nodes) void reach(other, storage.lastPosition(), other === node ? 0 : lagMs);
        return result;
      },
    };
  }

  async function reach(node: Node, position: number, afterMs: number): Promise<void> {
    if (afterMs > 0) await sleep(afterMs);
    const isApart = node.gate.isShut() || (node.believes === node.number && leader !== node.number);
    if (isApart || position <= node.seen) return;
    node.seen = position;
    node.commits.emit('commit');
  }

  function membersSeenBy({ believes }: Node) {
    timesAsked += 1;
    const { FOLLOWER, LEADER, UNKNOWN } = gossipMessages.MemberInfo.VNodeState;
    const members = nodes.map(({ number, port, gate }) => ({
      host: '127.0.0.1',
      port,
      isAlive: !gate.isShut(),
      state: believes === number ? LEADER : believes === null ? UNKNOWN : FOLLOWER,
    }));
    return [...members, ...more];
  }

  async function elect(lost: Node): Promise<void> {
    leader = null;
    const others = nodes.filter((node) => node !== lost && !node.gate.isShut());
    for (const node of others) node.believes = null;
    await sleep(electionMs);
    const elected = others[Math.floor(Math.random() * others.length)];
    if (!elected) return;
    leader = elected.number;
    for (const node of others) node.believes = leader;
    for (const node of others) await reach(node, storage.lastPosition(), 0);
  }

  const leading = (): Node => {
    const node = nodes[leader ?? -1];
    if (!node) throw new Error('Nobody leads');
    return node;
  };

  return {
    url: `esdb://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    /** Everything that is stored, on any node. */
    storage,
    timesAsked: () => timesAsked,
    more,

    /** Resolves when the leader is back and knows that another one leads. */
    async freezeLeader(forMs: number): Promise<void> {
      const node = leading();
      node.gate.shut();
      const elected = elect(node);
      await sleep(forMs);
      await elected;
      node.gate.open();
      await sleep(delusionMs);
      node.believes = leader;
      await reach(node, storage.lastPosition(), 0);
    },

    /** SIGKILL on the leader, which starts again as a follower. */
    async killLeader(forMs: number): Promise<void> {
      const node = leading();
      node.gate.shut();
      node.gate.cut();
      node.believes = null;
      await Promise.all([elect(node), sleep(forMs)]);
      node.gate.cut();
      node.gate.open();
      node.believes = leader;
      await reach(node, storage.lastPosition(), 0);
    },

    freezeAll: () => {
      for (const { gate } of nodes) gate.shut();
    },
    resumeAll: () => {
      for (const { gate } of nodes) gate.open();
    },
    freezeFollowers: () => {
      for (const { gate, number } of nodes) if (number !== leader) gate.shut();
    },

    async close(): Promise<void> {
      for (const { server, gate } of nodes) {
        gate.close();
        server.forceShutdown();
      }
      storage.close();
    },
  };
}

type Gate = Awaited<ReturnType<typeof openGate>>;

/** A TCP relay that can stand still: what arrives meanwhile waits, new connections too. */
async function openGate(to: number) {
  const pairs = new Set<readonly [Socket, Socket]>();
  let shut = false;
  const relay = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, into] of [pair, [far, near] as const]) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('data', (chunk) => into.write(chunk));
      from.on('close', () => {
        pairs.delete(pair);
        into.destroy();
      });
      if (shut) from.pause();
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    port: (relay.address() as AddressInfo).port,
    isShut: () => shut,
    shut() {
      shut = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    open() {
      shut = false;
      for (const socket of [...pairs].flat()) socket.resume();
    },
    /** Breaks every connection. */
    cut() {
      for (const socket of [...pairs].flat()) socket.destroy();
    },
    close() {
      for (const socket of [...pairs].flat()) socket.destroy();
      relay.close();
    },
  };
}
