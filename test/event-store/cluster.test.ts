/** A cluster whose leader is frozen, resumed and killed under load. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipMessages from '@eventstore/db-client/generated/gossip_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { closeClient, createClient } from '@ledger/event-store/new-client.ts';
import type { Reads } from '@ledger/event-store/read.ts';
import { confirmAbsence, readMembers } from '@ledger/event-store/stream-absence.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { until } from '../embedded/helpers.ts';
import { startEventStoreCluster } from '../support/event-store-cluster.ts';
import { answerMembers } from '../support/event-store-nodes.ts';
import { newEvent, open, range } from './helpers.ts';

async function startCluster(t: ExecutionContext) {
  const cluster = await startEventStoreCluster();
  t.teardown(() => cluster.close());
  return cluster;
}

const rounds = Number(process.env.CLUSTER_ROUNDS ?? 6);

test('the leader is frozen and resumed again and again: nothing acknowledged is lost or unknown', async (t) => {
  t.timeout(rounds * 20_000);
  const cluster = await startCluster(t);
  const deadlines = { callDeadlineMs: 400, giveUpAfterMs: 10_000 };
  const [store, reader] = [open(t, cluster.url, deadlines), open(t, cluster.url, deadlines)];
  let running = true;
  let appended = 0;
  let longestMs = 0;
  const falseAnswers: string[] = [];

  async function write(writer: number): Promise<void> {
    for (let number = 0; running; number += 1) {
      const streamName = `payment-${writer}-${number}`;
      const startedMs = performance.now();
      try {
        await store.append(streamName, [newEvent()], 'no_stream');
      } catch (error) {
        if (error instanceof EventStoreUnavailable) continue;
        throw error;
      }
      appended += 1;
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      const found = await reader.load(streamName).catch((error: unknown) => {
        if (error instanceof EventStoreUnavailable) return null;
        throw error;
      });
      if (found?.length === 0) falseAnswers.push(streamName);
      await sleep(5);
    }
  }

  const writers = Promise.all(range(8).map(write));
  for (const round of range(rounds)) {
    await sleep(300);
    if (round % 3 === 2) await cluster.killLeader(500);
    else await cluster.freezeLeader(round % 2 === 0 ? 700 : 1_500);
  }
  running = false;
  await writers;
  t.log({ appended, longestMs: Math.round(longestMs) });
  t.deepEqual(falseAnswers, []);
  t.true(appended > rounds);
});

test('an append that was not sent before its deadline is never sent', async (t) => {
  const cluster = await startCluster(t);
  const store = open(t, cluster.url, { callDeadlineMs: 300, giveUpAfterMs: 600 });
  // No node answers, so that none can be found.
  cluster.freezeAll();
  await t.throwsAsync(store.append('payment-1', [newEvent()], 'no_stream'), {
    instanceOf: EventStoreUnavailable,
  });
  cluster.resumeAll();
  await until(() =>
    store.append('payment-2', [newEvent()], 'no_stream').then(
      () => true,
      () => false,
    ),
  );
  t.is(cluster.storage.head('payment-1'), -1);
});

test('a stream is said not to exist only if more than half of the nodes answer', async (t) => {
  const cluster = await startCluster(t);
  const store = open(t, cluster.url, { callDeadlineMs: 1_500 });
  t.deepEqual(await store.load('payment-1'), []);
  t.is(await store.loadLast('payment-1'), null);
  cluster.freezeFollowers();
  await t.throwsAsync(store.load('payment-1'), {
    instanceOf: EventStoreUnavailable,
    message: /Too few nodes/,
  });
  const lines = new Set(store.logged.map(({ message }) => message));
  t.is(lines.size, 2, 'of each node that does not answer');
  for (const line of lines) t.regex(line, /^Node 127\.0\.0\.1:\d+ of the event store does not answer$/);
});

test('a read-only replica has no part in the majority: appends are acknowledged without it', async (t) => {
  const { FOLLOWER, LEADER, READONLYREPLICA } = gossipMessages.MemberInfo.VNodeState;
  const states = [LEADER, FOLLOWER, FOLLOWER, READONLYREPLICA, READONLYREPLICA];
  const server = new Server();
  const members = states.map((state, index) => ({ host: `node-${index}`, port: 2113, state }));
  server.addService(gossip.GossipService, { read: answerMembers(members) });
  const port = await promisify(server.bindAsync.bind(server))(
    '127.0.0.1:0',
    ServerCredentials.createInsecure(),
  );
  const client = createClient(`esdb://127.0.0.1:${port}?tls=false`);
  t.teardown(() => {
    closeClient(client);
    server.forceShutdown();
  });
  t.deepEqual(await readMembers(client), ['node-0:2113', 'node-1:2113', 'node-2:2113']);
});

test('a node that has left the cluster is not connected to any more', async (t) => {
  const cluster = await startCluster(t);
  const left = createServer((socket) => socket.destroy());
  await once(left.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => left.close());
  let attempts = 0;
  left.on('connection', () => {
    attempts += 1;
  });
  const { port } = left.address() as AddressInfo;
  cluster.more.push({ host: '127.0.0.1', port, state: gossipMessages.MemberInfo.VNodeState.FOLLOWER });
  const store = open(t, cluster.url);
  t.deepEqual(await store.load('payment-1'), []);
  await until(() => attempts > 2);
  cluster.more.pop();
  await sleep(200);
  t.deepEqual(await store.load('payment-1'), []);
  const before = attempts;
  await sleep(4_000);
  t.true(attempts <= before + 1, `${attempts - before} attempts in 4 s`);
});

test('who asks for many streams at once that do not exist asks once which nodes there are', async (t) => {
  const cluster = await startCluster(t);
  const store = open(t, cluster.url);
  await store.load('payment-0');
  const before = cluster.timesAsked();
  const found = await Promise.all(range(50).map((number) => store.load(`payment-${number}`)));
  t.deepEqual(found.flat(), []);
  t.true(cluster.timesAsked() - before < 25, 'once, or again after a tenth of a second');
});

test('where nobody says which nodes there are, absence is not known: the store counts as unavailable', async (t) => {
  const empty = { load: async () => [], loadLast: async () => null, head: async () => null };
  const members = () => Promise.reject(new Error('14 UNAVAILABLE: Connection dropped'));
  const { load, loadLast } = confirmAbsence({
    leader: empty,
    members,
    readsOf: () => empty,
    runtime: systemRuntime,
  });
  await t.throwsAsync(load('payment-1'), { instanceOf: EventStoreUnavailable });
  await t.throwsAsync(loadLast('payment-1'), { instanceOf: EventStoreUnavailable });
});

test('absence is known once two of three nodes agree, and what one node has is found: nobody waits for one that is frozen', async (t) => {
  const empty = { load: async () => [], loadLast: async () => null, head: async () => null };
  const stored = [{ ...newEvent(), streamName: 'payment-1', revision: 0 }] as unknown as Awaited<
    ReturnType<Reads['load']>
  >;
  const full: Reads = { ...empty, load: async () => stored };
  const frozen: Reads = { ...empty, load: () => new Promise(() => {}) };
  const unreachable: Reads = { ...empty, load: () => Promise.reject(new Error('14 UNAVAILABLE')) };
  const loadFrom = (nodes: Record<string, Reads>) =>
    confirmAbsence({
      leader: empty,
      members: async () => Object.keys(nodes),
      readsOf: (address) => nodes[address] ?? empty,
      runtime: systemRuntime,
    }).load('payment-1');
  const slow: Reads = { ...empty, load: () => systemRuntime.sleep(50).then(() => stored) };
  t.deepEqual(await loadFrom({ a: empty, b: frozen, c: empty }), []);
  t.is(await loadFrom({ a: empty, b: frozen, c: full }), stored);
  t.is(await loadFrom({ a: empty, b: empty, c: slow }), stored, 'the others are given a moment');
  t.deepEqual(await loadFrom({ a: empty }), []);
  t.is(await loadFrom({ a: unreachable, b: frozen, c: full }), stored);
  await t.throwsAsync(loadFrom({ a: empty, b: unreachable, c: unreachable }), {
    instanceOf: EventStoreUnavailable,
  });
  const half = { a: empty, b: empty, c: unreachable, d: unreachable };
  await t.throwsAsync(loadFrom(half), { instanceOf: EventStoreUnavailable });
  await t.throwsAsync(loadFrom({ a: empty, b: unreachable }), { instanceOf: EventStoreUnavailable });
});
