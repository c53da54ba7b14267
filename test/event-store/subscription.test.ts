/** Subscriptions: order, checkpoints, a slow consumer, letting go, and coming back after every kind of end. */
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from '@ledger/event-store/errors.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  LogReplaced,
  type Position,
  type SubscriptionMessage,
} from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import { closeClient, createClient } from '@ledger/event-store/new-client.ts';
import { subscribe } from '@ledger/event-store/subscription.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { until } from '../embedded/helpers.ts';
import { startServer as startInProcess, startServerProcess } from '../support/event-store.ts';
import { testRuntime } from '../support/runtime.ts';
import { newEvent, open, range, startServer, startWire } from './helpers.ts';

const never = new AbortController().signal;

/** Consumes a subscription in the background; `stop` ends it and waits for its end. */
function collect(store: EventStore, options: { streamPrefixes?: string[]; after?: Position | null } = {}) {
  const controller = new AbortController();
  const messages: SubscriptionMessage[] = [];
  const subscription = store.subscribe({
    streamPrefixes: options.streamPrefixes ?? ['payment-'],
    after: options.after ?? null,
    signal: controller.signal,
  });
  const done = (async () => {
    for await (const message of subscription) messages.push(message);
  })();
  return {
    messages,
    ended: done,
    events: () => messages.flatMap((message) => (message.kind === 'event' ? [message.event] : [])),
    stop: () => {
      controller.abort();
      return done;
    },
  };
}

const isCaughtUp = ({ kind }: SubscriptionMessage) => kind === 'caught_up';

/** Appends `count` events one after another to one stream, whatever happens to the server meanwhile. */
async function appendMany(store: EventStore, streamName: string, count: number, from = 0): Promise<void> {
  for (const n of range(count).map((index) => index + from))
    await store.append(streamName, [newEvent(n)], n === 0 ? 'no_stream' : n - 1);
}

test.serial('only the requested prefixes, in order, from the given position, then live', async (t) => {
  const store = open(t, (await startServer(t)).port);
  for (const name of ['payment-1', 'user-1', 'payment-2', 'payments', 'project-1'])
    await store.append(name, [newEvent(name), newEvent(name)], 'no_stream');
  const all = collect(store, { streamPrefixes: ['payment-', 'project-'] });
  await until(() => all.messages.some(isCaughtUp));
  t.deepEqual(
    all.events().map(({ streamName, revision }) => `${streamName} ${revision}`),
    ['payment-1 0', 'payment-1 1', 'payment-2 0', 'payment-2 1', 'project-1 0', 'project-1 1'],
  );
  const after = all.events()[2]?.position ?? null;
  const rest = collect(store, { after });
  await until(() => rest.messages.some(isCaughtUp));
  const live = await store.append('payment-3', [newEvent()], 'no_stream');
  await until(() => rest.events().length === 2);
  t.deepEqual(
    rest.events().map(({ streamName }) => streamName),
    ['payment-2', 'payment-3'],
  );
  t.deepEqual(rest.events()[1]?.position, live.position);
  await all.stop();
  await rest.stop();
});

test.serial('subscriptions that are behind come on alike', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const text = 'x'.repeat(1_500);
  for (const stream of range(16))
    await store.append(
      `payment-${stream}`,
      range(500).map((n) => ({ ...newEvent(n), data: { text } })),
      'no_stream',
    );
  const readers = range(4).map(() => collect(store));
  await until(() => readers.some((reader) => reader.messages.length > 4_000));
  const counts = readers.map((reader) => reader.messages.length);
  t.true(Math.min(...counts) > 1_500, counts.join(', '));
  for (const reader of readers) await reader.stop();
});

test.serial('only the requested types, of whatever stream, and none that merely begin alike', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const typed = (type: string) => ({ ...newEvent(), type });
  await store.append('payment-1', ['Paid', 'Asked', 'PaidTwice', 'Unpaid', 'Failed'].map(typed), 'no_stream');
  const controller = new AbortController();
  const eventTypes = ['Paid', 'Failed'];
  const first = await store.firstAfter({ eventTypes, after: null, signal: never });
  t.is(first?.type, 'Paid');
  const seen: string[] = [];
  const following = (async () => {
    const options = { eventTypes, after: first?.position ?? null, signal: controller.signal };
    for await (const message of store.subscribe(options))
      if (message.kind === 'event') seen.push(`${message.event.streamName} ${message.event.type}`);
  })();
  await until(() => seen.length === 1);
  await store.append('user-1', [typed('PaidTwice'), typed('Paid')], 'no_stream');
  await until(() => seen.length === 2);
  t.deepEqual(seen, ['payment-1 Failed', 'user-1 Paid']);
  controller.abort();
  await following;
});

test.serial('checkpoints and being caught up come in order with the events', async (t) => {
  const store = open(t, (await startServer(t)).port);
  for (const n of range(20)) {
    const name = n % 2 ? 'payment-' : 'user-';
    await store.append(
      `${name}${n}`,
      range(200).map(() => newEvent()),
      'no_stream',
    );
  }
  const seen: SubscriptionMessage[] = [];
  for await (const message of store.subscribe({ streamPrefixes: ['payment-'], after: null, signal: never })) {
    seen.push(message);
    if (message.kind === 'caught_up') break;
    if (seen.length % 100 === 0) await sleep(1); // so that the client buffers, and would run ahead
  }
  const checkpoints = seen.filter(({ kind }) => kind === 'checkpoint');
  t.true(checkpoints.length > 2);
  const positions = seen.flatMap((message) => {
    if (message.kind === 'caught_up') return [];
    return [message.kind === 'event' ? message.event.position.commit : message.position.commit];
  });
  t.deepEqual(
    positions,
    positions.toSorted((a, b) => Number(a - b)),
  );
  t.is(seen.filter(({ kind }) => kind === 'event').length, 2000);
});

for (const [signal, rounds] of [
  ['SIGKILL', 2],
  ['SIGTERM', 1],
] as const) {
  test.serial(`resumes after ${signal}: nothing lost, nothing doubled`, async (t) => {
    const server = await startServerProcess(t);
    const store = open(t, server.port);
    const early = collect(store);
    for (const round of range(rounds)) {
      const appending = appendMany(store, 'payment-1', 300, round * 300);
      await until(() => early.events().length > round * 300 + 100);
      await server.end(signal);
      await server.start();
      await appending;
    }
    await until(() => early.events().length >= rounds * 300);
    t.deepEqual(
      early.events().map(({ data }) => data),
      range(rounds * 300),
    );
    t.true(store.logged.some(({ message }) => message === 'Subscription broken, will resume'));
    await early.stop();
  });
}

test.serial('starts while no server listens yet', async (t) => {
  const port = await freePort();
  const store = open(t, port);
  const early = collect(store);
  await until(() => store.logged.length > 1);
  await startServer(t, port);
  await appendMany(store, 'payment-1', 1);
  await until(() => early.events().length === 1);
  await early.stop();
  t.pass();
});

test.serial('notices a frozen server, and resumes when it wakes', async (t) => {
  const server = await startServerProcess(t);
  // Below 10 s the client warns on the console; the test cannot wait as long as production does.
  const store = open(t, server.port, { settings: '&keepAliveInterval=200&keepAliveTimeout=200' });
  const early = collect(store);
  await appendMany(store, 'payment-1', 10);
  await until(() => early.events().length === 10);
  server.signal('SIGSTOP');
  await until(() => store.logged.some(({ message }) => message === 'Subscription broken, will resume'));
  server.signal('SIGCONT');
  await appendMany(store, 'payment-1', 10, 10);
  await until(() => early.events().length >= 20);
  t.deepEqual(
    early.events().map(({ data }) => data),
    range(20),
  );
  await early.stop();
});

test.serial('a slow consumer holds the server back', async (t) => {
  const server = await startServer(t);
  const writer = open(t, server.port);
  const text = 'x'.repeat(10_000);
  for (const n of range(10))
    await writer.append(
      `payment-${n}`,
      range(90).map(() => newEvent(text)),
      'no_stream',
    );

  const wire = await startWire(t, server.port);
  const store = open(t, wire.port);
  let events = 0;
  for await (const { kind } of store.subscribe({
    streamPrefixes: ['payment-'],
    after: null,
    signal: never,
  })) {
    if (kind === 'event') events += 1;
    if (events === 1) {
      let before = -1;
      while (wire.bytes.answers > before) {
        before = wire.bytes.answers;
        await sleep(200);
      }
      t.true(before < 3_000_000, `${before} of 9 MB sent ahead`);
    }
    if (kind === 'caught_up') break;
  }
  t.is(events, 10 * 90);
});

test.serial('breaking off and aborting each release the call: the server sends no more', async (t) => {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  const writer = open(t, server.port);
  const store = open(t, wire.port);
  const text = 'x'.repeat(30_000);
  let appended = 0;
  const bytesOfAnAppend = async () => {
    await store.load('payment-1'); // what was sent before has arrived
    const before = wire.bytes.answers;
    appended += 1;
    await writer.append(`payment-${appended}`, [newEvent(text)], 'no_stream');
    await store.load('payment-none');
    return wire.bytes.answers - before;
  };

  const control = collect(store);
  await until(() => control.messages.some(isCaughtUp));
  const before = wire.bytes.answers;
  await writer.append('payment-0', [newEvent(text)], 'no_stream');
  await until(() => control.events().length === 1);
  t.true(wire.bytes.answers - before > 30_000);
  await control.stop();
  t.true((await bytesOfAnAppend()) < 10_000);

  for await (const { kind } of store.subscribe({
    streamPrefixes: ['payment-'],
    after: null,
    signal: never,
  })) {
    if (kind === 'event') break;
  }
  t.true((await bytesOfAnAppend()) < 10_000);
});

test.serial('a subscription that has ended leaves no connection behind', async (t) => {
  const wire = await startWire(t, (await startServer(t)).port);
  const store = open(t, wire.port);
  for (let round = 0; round < 3; round += 1)
    for await (const { kind } of store.subscribe({ streamPrefixes: ['any'], after: null, signal: never }))
      if (kind === 'caught_up') break;
  // gRPC looks every 10 s for connections that no channel uses.
  await until(() => wire.connections.size === 0);
  t.pass();
});

test.serial('a subscription that has ended leaves nothing at a signal that lives on', async (t) => {
  const { port } = await startServer(t);
  const client = createClient(`esdb://127.0.0.1:${port}?tls=false`);
  t.teardown(() => closeClient(client));
  const { signal } = new AbortController();
  const dependencies = { client, runtime: testRuntime(), log: { warn: () => t.fail() } };
  for await (const { kind } of subscribe({ streamPrefixes: ['any'], after: null, signal }, dependencies))
    if (kind === 'caught_up') break;
  t.deepEqual(getEventListeners(signal, 'abort'), []);
});

test.serial('closing ends subscriptions', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const endless = collect(store);
  await until(() => endless.messages.some(isCaughtUp));
  await store.close();
  await endless.ended;
  t.pass();
});

test.serial('an abort ends a subscription that waits to resume, or has not begun', async (t) => {
  const sleep: Runtime['sleep'] = (_, signal) =>
    new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
  const store = open(t, await freePort(), { runtime: testRuntime({ sleep }) });
  const waiting = collect(store);
  await until(() => store.logged.length > 0);
  await waiting.stop();
  for await (const _ of store.subscribe({ streamPrefixes: [''], after: null, signal: AbortSignal.abort() }))
    t.fail();
  t.deepEqual(waiting.messages, []);
});

test.serial('with maxFailures it gives up after so many, and says why', async (t) => {
  const store = open(t, await freePort());
  const asking = { streamPrefixes: [''], after: null, signal: never, maxFailures: 3 };
  const thrown = await t.throwsAsync(store.subscribe(asking)[Symbol.asyncIterator]().next(), {
    instanceOf: EventStoreUnavailable,
  });
  t.regex(thrown?.message ?? '', /^The log cannot be read on: ./);
  t.is(store.logged.filter(({ message }) => message === 'Subscription broken, will resume').length, 2);
});

test.serial(
  'of an outage that lasts, lines are written once a minute, also when subscriptions begin again',
  async (t) => {
    const pausesMs: number[] = [];
    const sleep = async (ms: number) => void pausesMs.push(ms);
    const store = open(t, await freePort(), { runtime: testRuntime({ sleep }) });
    const asking = { streamPrefixes: [''], after: null, signal: never, maxFailures: 50 };
    for (let times = 0; times < 3; times += 1)
      await t.throwsAsync(store.subscribe(asking)[Symbol.asyncIterator]().next());
    // Of the 147 failures; a few reasons take turns.
    t.true(store.logged.length >= 5 && store.logged.length <= 15, `${store.logged.length}`);
    t.true(Math.max(...pausesMs) <= 2_000);
    t.true(new Set(pausesMs).size > 20, 'not in step with other processes');
  },
);

test('the reason of a failure is the same each time, without its time of day', (t) => {
  const failed = new Error(
    '14 UNAVAILABLE: No connection established. Last error: Error: certificate has expired (2026-11-27T10:19:46.635Z). Resolution note: ',
  );
  t.is(describe(failed), 'certificate has expired');
});

test.serial(
  'interrupted again and again, it goes on after the last message that was handed over',
  async (t) => {
    const server = await startServer(t);
    const writer = open(t, server.port);
    await writer.append('user-1', range(1_000).map(newEvent), 'no_stream');
    const wire = await startWire(t, server.port);
    const positions: bigint[] = [];
    let interruptions = 0;
    const asking = { streamPrefixes: ['payment-'], after: null, signal: never, maxFailures: 3 };
    for await (const message of open(t, wire.port).subscribe(asking)) {
      if (message.kind !== 'caught_up') {
        const { position } = message.kind === 'event' ? message.event : message;
        positions.push(position.commit);
        continue;
      }
      if (interruptions === 4) break;
      await writer.append(`payment-${interruptions}`, [newEvent()], 'no_stream');
      interruptions += 1;
      wire.cut();
    }
    t.true(positions.length > 4);
    t.deepEqual(
      positions,
      positions.toSorted((a, b) => Number(a - b)),
    );
  },
);

test.serial('a log that is replaced meanwhile by one without the last event is another one', async (t) => {
  const first = await startInProcess();
  const sleep = () => new Promise<void>(setImmediate);
  const store = open(t, first.port, { runtime: testRuntime({ sleep }) });
  await appendMany(store, 'payment-1', 3);
  const asking = { streamPrefixes: ['payment-'], after: null, processed: null, signal: never };
  const messages = store.subscribe(asking)[Symbol.asyncIterator]();
  for (const _ of range(3)) t.is((await messages.next()).value?.kind, 'event');
  await first.close();
  const copy = await startServer(t, first.port);
  await appendMany(open(t, copy.port), 'payment-1', 3);
  const untilBroken = async () => {
    while (!(await messages.next()).done);
  };
  await t.throwsAsync(untilBroken(), { instanceOf: LogReplaced, message: /The log has no event/ });
});

test.serial('a log that ends before what was read of it is another one', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const empty = open(t, (await startServer(t)).port);
  const event = newEvent();
  const { position } = await store.append('payment-1', [event], 'no_stream');
  const mark = { id: event.id, position };
  const beyond = { commit: position.commit + 600n, prepare: position.prepare + 600n };
  const first = (from: EventStore, after: Position, processed: typeof mark | null) =>
    from
      .subscribe({ streamPrefixes: ['payment-'], after, processed, signal: never })
      [Symbol.asyncIterator]()
      .next();
  // Events of other streams have moved the position on, or there was none of these streams yet.
  await Promise.all(
    [mark, null].map((processed) =>
      t.throwsAsync(first(store, beyond, processed), { instanceOf: LogReplaced, message: /ends before it/ }),
    ),
  );
  t.is((await first(store, position, mark)).value?.kind, 'checkpoint');
  t.is((await first(empty, { commit: 0n, prepare: 0n }, null)).value?.kind, 'checkpoint');
});

test.serial('a log that seemed to lack an event and then cannot be read counts as unreachable', async (t) => {
  const server = await startInProcess();
  const store = open(t, server.port);
  const { position } = await store.append('payment-1', [newEvent()], 'no_stream');
  const processed = { id: newEvent().id, position };
  const asking = { streamPrefixes: [''], after: position, processed, signal: never, maxFailures: 4 };
  const first = store.subscribe(asking)[Symbol.asyncIterator]().next();
  const thrown = t.throwsAsync(first, { instanceOf: EventStoreUnavailable });
  await until(() => store.logged.length > 0);
  await server.close();
  await thrown;
});

test.serial('the events up to the end of the log, and no further', async (t) => {
  const store = open(t, (await startServer(t)).port);
  await appendMany(store, 'payment-1', 3);
  await appendMany(store, 'user-1', 1);
  const revisionsUnless = async (signal: AbortSignal) => {
    const revisions: number[] = [];
    const events = eventsToEnd(store, { streamPrefixes: ['payment-'], after: null, signal });
    for await (const { revision } of events) revisions.push(revision);
    return revisions;
  };
  t.deepEqual(await revisionsUnless(never), [0, 1, 2]);
  const reason = new Error('enough');
  t.is(await t.throwsAsync(revisionsUnless(AbortSignal.abort(reason))), reason);
  await store.close();
  await t.throwsAsync(revisionsUnless(never), { instanceOf: EventStoreUnavailable });
});
