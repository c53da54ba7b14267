/** Appends while the event store is killed, frozen, stopped or away: acknowledged means stored, once. */
import { setTimeout as sleepMs } from 'node:timers/promises';
import { createConnection } from '@ledger/event-store/connection.ts';
import { EventStoreUnavailable, WrongExpectedRevision } from '@ledger/event-store/event-store.ts';
import { createClient } from '@ledger/event-store/new-client.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { until } from '../embedded/helpers.ts';
import { postRequest, requestBody } from '../http/generic/helpers.ts';
import { startApp } from '../support/app.ts';
import { startServerProcess } from '../support/event-store.ts';
import { testRuntime } from '../support/runtime.ts';
import { newEvent, open, range, startServer, startWire } from './helpers.ts';

/** An answer, or a start of the server, may take long on a busy machine. */
const patient = { callDeadlineMs: 20_000, giveUpAfterMs: 60_000 };

for (const [signal, rounds] of [
  ['SIGKILL', 3],
  ['SIGTERM', 1],
] as const) {
  test(`${signal} again and again under load: what is acknowledged is stored, once, in its place`, async (t) => {
    const server = await startServerProcess(t);
    const store = open(t, server.port, patient);
    const acknowledged = new Map<string, string[]>();
    let appended = 0;
    let running = true;

    async function appendAlone(streamName: string) {
      const ids: string[] = [];
      acknowledged.set(streamName, ids);
      while (running) {
        const event = newEvent();
        // Nobody else writes here, so a wrong revision would be a wrong answer: it fails the test.
        const { revision } = await store.append(
          streamName,
          [event],
          ids.length ? ids.length - 1 : 'no_stream',
        );
        t.is(revision, ids.length);
        ids.push(event.id);
        appended += 1;
      }
    }

    const writers = Promise.all(range(32).map((n) => appendAlone(`payment-${n}`)));
    for (const round of range(rounds)) {
      const goal = appended + 200 + round * 37;
      await until(() => appended >= goal);
      await server.end(signal);
      await server.start();
    }
    running = false;
    await writers;

    for (const [streamName, ids] of acknowledged) {
      const stored = await store.load(streamName);
      t.deepEqual(
        stored.map(({ id }) => id),
        ids,
      );
    }
  });
}

/** A connection over a wire that works, with one event in stream payment-1, and a second one straight to the server. */
async function storeOverWire(t: ExecutionContext) {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  const store = open(t, wire.port, patient);
  const observer = open(t, server.port, patient);
  await store.append('payment-1', [newEvent()], 'no_stream');
  return { wire, store, observer };
}

test('the answer is lost: found in the stream', async (t) => {
  const { wire, store, observer } = await storeOverWire(t);
  const events = [newEvent(), newEvent()];
  wire.lost.answers = true;
  const append = store.append('payment-1', events, 0);
  await until(async () => (await observer.load('payment-1')).length === 3);
  wire.cut();
  const stored = await observer.load('payment-1', 1);
  t.like(await append, { revision: 2, position: stored[1]?.position });
  t.deepEqual(
    stored.map(({ id }) => id),
    events.map(({ id }) => id),
  );
});

test('the answer is lost and others have appended since: still found', async (t) => {
  const { wire, store, observer } = await storeOverWire(t);
  wire.lost.answers = true;
  const append = store.append('payment-1', [newEvent()], 0);
  await until(async () => (await observer.load('payment-1')).length === 2);
  await observer.append('payment-1', [newEvent()], 1);
  wire.cut();
  t.is((await append).revision, 1);
});

test('the request is lost: sent again', async (t) => {
  const { wire, store } = await storeOverWire(t);
  const event = newEvent();
  wire.lost.requests = true;
  const sentBefore = wire.bytes.requests;
  const append = store.append('payment-1', [event], 0);
  await until(() => wire.bytes.requests > sentBefore);
  wire.cut();
  t.is((await append).revision, 1);
  t.deepEqual(
    (await store.load('payment-1', 1)).map(({ id }) => id),
    [event.id],
  );
});

test('what was known before the connection was lost: not sent, as the log may be an older copy now', async (t) => {
  const { wire, store, observer } = await storeOverWire(t);
  const refused = {
    instanceOf: WrongExpectedRevision,
    message: 'The connection was lost since stream payment-1 was known to be at 2',
  };
  const first = await store.append('payment-1', [newEvent()], 0);
  const { epoch } = await store.append('payment-1', [newEvent()], 1, first.epoch);
  t.truthy(epoch);
  t.is((await store.load('payment-1')).at(-1)?.epoch, epoch, 'read over the same connection');

  wire.lost.requests = true;
  const sentBefore = wire.bytes.requests;
  const underWay = store.append('payment-1', [newEvent()], 2, epoch);
  await until(() => wire.bytes.requests > sentBefore);
  wire.cut();
  await t.throwsAsync(underWay, refused);
  await t.throwsAsync(store.append('payment-1', [newEvent()], 2, epoch), refused);
  t.is((await observer.load('payment-1')).length, 3);

  const again = (await store.load('payment-1')).at(-1)?.epoch;
  t.not(again, epoch);
  t.is((await store.append('payment-1', [newEvent()], 2, again)).revision, 3);
});

test('that the connection was lost is no answer of the store, which counts as away meanwhile', async (t) => {
  const server = await startServerProcess(t);
  const store = open(t, server.port);
  const { epoch } = await store.append('payment-1', [newEvent()], 'no_stream');
  await server.end('SIGKILL');
  await t.throwsAsync(store.load('payment-1'), { instanceOf: EventStoreUnavailable });
  const told = store.logged.length;
  for (let times = 0; times < 20; times += 1)
    await t.throwsAsync(store.append('payment-1', [newEvent()], 0, epoch), {
      instanceOf: WrongExpectedRevision,
    });
  t.deepEqual(store.logged.slice(told), []);
});

test('what was read before the first append counts as known over the same connection, and no longer', async (t) => {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  await open(t, server.port, patient).append('payment-1', [newEvent()], 'no_stream');
  const store = open(t, wire.port, patient);
  const [read] = await store.load('payment-1');
  t.is((await store.append('payment-1', [newEvent()], 0, read?.epoch)).revision, 1);

  const other = open(t, wire.port, patient);
  const known = (await other.load('payment-1')).at(-1)?.epoch;
  wire.cut();
  await until(async () => wire.connections.size === 0);
  await other.load('payment-1');
  await t.throwsAsync(other.append('payment-1', [newEvent()], 1, known), {
    instanceOf: WrongExpectedRevision,
  });
});

test('the request is lost and another takes its place: a conflict, not an outage', async (t) => {
  const { wire, store, observer } = await storeOverWire(t);
  wire.lost.requests = true;
  const sentBefore = wire.bytes.requests;
  const append = store.append('payment-1', [newEvent()], 0);
  await until(() => wire.bytes.requests > sentBefore);
  await observer.append('payment-1', [newEvent()], 0);
  wire.cut();
  await t.throwsAsync(append, {
    instanceOf: WrongExpectedRevision,
    message: 'Stream payment-1 is at 1, not at 0',
  });
});

test('frozen, then woken: the append goes through, once', async (t) => {
  const server = await startServerProcess(t);
  // Only the silence of the frozen server may count as an outage, however busy the machine is.
  const store = open(t, server.port, { callDeadlineMs: 500, giveUpAfterMs: 60_000 });
  const observer = open(t, server.port, patient);
  await store.append('payment-1', [newEvent()], 'no_stream');
  server.signal('SIGSTOP');
  const append = store.append('payment-1', [newEvent()], 0);
  await until(() => store.logged.some(({ message }) => message === 'The event store does not answer'));
  server.signal('SIGCONT');
  t.is((await append).revision, 1);
  t.is((await observer.load('payment-1')).length, 2);
  await until(() => store.logged.at(-1)?.message === 'The event store answers again');
});

test('frozen for long: unavailable; the same append again later is stored once', async (t) => {
  const server = await startServerProcess(t);
  const store = open(t, server.port, { callDeadlineMs: 500, giveUpAfterMs: 1_000 });
  const observer = open(t, server.port, patient);
  const event = newEvent();
  await observer.append('payment-1', [newEvent()], 'no_stream');
  server.signal('SIGSTOP');
  await t.throwsAsync(store.append('payment-1', [event], 0), { instanceOf: EventStoreUnavailable });
  await t.throwsAsync(store.load('payment-1'), { instanceOf: EventStoreUnavailable });
  server.signal('SIGCONT');
  // On a busy machine the server may take longer than a deadline now and then, even when it runs again.
  const appended = await until(() => store.append('payment-1', [event], 0).catch(() => undefined));
  t.is(appended.revision, 1);
  t.is((await observer.load('payment-1')).length, 2);
});

test('what a process has given up by itself is no reason for an outage', async (t) => {
  const never = new Promise<never>(() => {});
  const connection = createConnection({
    what: 'The event store',
    connect: () => createClient('esdb://127.0.0.1:9?tls=false'),
    look: () => never,
    deadlineMs: 50,
    awayAfterMs: 0,
    runtime: systemRuntime,
    log: { info: () => {}, warn: () => {} },
  });
  t.teardown(connection.close);
  const silent = connection.use(() => never);
  const cancelled = connection.use(async () => {
    await silent.catch(() => {});
    throw new Error('1 CANCELLED: Cancelled on client');
  });
  await t.throwsAsync(silent);
  await t.throwsAsync(cancelled, { message: /CANCELLED/ });
  t.is(connection.whyAway(), 'The event store does not answer: No answer within 50 ms');
});

test('no server listens at first: an append waits a while, then is unavailable; later it works', async (t) => {
  const port = await freePort();
  const store = open(t, port, { ...patient, giveUpAfterMs: 300 });
  await t.throwsAsync(store.append('payment-1', [newEvent()], 'no_stream'), {
    instanceOf: EventStoreUnavailable,
    message: /^Cannot tell whether stream payment-1 took an append: (connect ECONNREFUSED|Failed to connect)/,
  });
  // While it is known to be away, nothing is tried.
  await t.throwsAsync(store.append('payment-1', [newEvent()], 'no_stream'), {
    instanceOf: EventStoreUnavailable,
    message: /^The event store does not answer: (connect ECONNREFUSED|Failed to connect)/,
  });
  await startServer(t, port);
  await until(() => store.logged.at(-1)?.message === 'The event store answers again');
  t.is((await store.append('payment-1', [newEvent()], 'no_stream')).revision, 0);
});

test('over HTTP: while the store is known to be away, requests get their 503 without a call to it; it comes back by itself', async (t) => {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  // The looks of the connection itself pause here, so that every byte on the wire would be due to a request.
  let paused = Promise.resolve();
  const sleep: Runtime['sleep'] = async (ms, signal) => {
    await paused;
    await systemRuntime.sleep(ms, signal);
  };
  const store = open(t, wire.port, {
    settings: '&keepAliveInterval=-1',
    callDeadlineMs: 1_000,
    giveUpAfterMs: 1_500,
    runtime: testRuntime({ sleep }),
  });
  const app = await startApp({}, { eventStore: store });
  t.teardown(() => app.close());
  const isTaken = async () => (await postRequest(app, requestBody())).status === 200;
  // On a busy machine, an answer may take longer than it is waited for here.
  await until(isTaken);
  wire.lost.answers = true;
  t.is((await postRequest(app, requestBody())).status, 503);

  const { promise, resolve } = Promise.withResolvers<void>();
  paused = promise;
  await until(async () => {
    const before = wire.bytes.requests;
    await sleepMs(1_200); // longer than a call may take
    return wire.bytes.requests === before;
  });
  const before = wire.bytes.requests;
  for (const _ of range(20)) {
    const refused = await postRequest(app, requestBody());
    t.is(refused.status, 503);
    t.is(refused.headers.get('retry-after'), '5');
  }
  t.is(wire.bytes.requests, before);

  wire.cut();
  resolve();
  await until(() => store.logged.some(({ message }) => message === 'The event store answers again'));
  await until(isTaken);
});
