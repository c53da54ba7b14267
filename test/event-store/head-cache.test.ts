// What this process knows of the ends of streams: only what it saw, not for long, and of so many streams.
import { randomUUID } from 'node:crypto';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { createHeadCache, knownForMs } from '@ledger/event-store/head-cache.ts';
import test from 'ava';
import { log } from '../projections/helpers.ts';
import { startServer } from '../support/event-store.ts';
import { testRuntime } from '../support/runtime.ts';

const server = await startServer();
const eventStore = connectEventStore({ url: server.url, log, runtime: testRuntime() });
test.after.always(async () => {
  await eventStore.close();
  await server.close();
});

const event = () => ({ id: randomUUID(), type: 'Tested', data: {}, metadata: {} });

function start(most?: number) {
  let nowMs = 0;
  const heads = createHeadCache({ monotonicMs: () => nowMs }, most === undefined ? {} : { most });
  return { heads, store: heads.watch(eventStore), pass: (ms: number) => (nowMs += ms) };
}

test('what is appended or loaded is known, for a while', async (t) => {
  const { heads, store, pass } = start();
  t.is(heads.revisionOf('a'), null);
  await store.append('a', [event(), event()], 'no_stream');
  t.is(heads.revisionOf('a'), 1);
  pass(knownForMs - 1);
  t.is(heads.revisionOf('a'), 1);
  pass(1);
  t.is(heads.revisionOf('a'), null);
  await eventStore.append('a', [event()], 1);
  await store.load('a');
  t.is(heads.revisionOf('a'), 2);
});

test('a part of a stream, and a stream that does not exist, say nothing about its head', async (t) => {
  const { heads, store } = start();
  await eventStore.append('b', [event(), event()], 'no_stream');
  await store.load('b', 0, 1);
  await store.load('c');
  t.deepEqual([heads.revisionOf('b'), heads.revisionOf('c')], [null, null]);
});

test('after an append that failed, the head is not known', async (t) => {
  const { heads, store } = start();
  await eventStore.append('d', [event()], 'no_stream');
  await t.throwsAsync(store.append('d', [event()], 'no_stream'));
  t.is(heads.revisionOf('d'), null);
  await store.load('d');
  t.is(heads.revisionOf('d'), 0);
  await t.throwsAsync(store.append('d', [event()], 'no_stream'));
  t.is(heads.revisionOf('d'), null);
});

test('an answer that was overtaken does not lower what is known, nor make it last', async (t) => {
  const { heads, pass } = start();
  const late = Promise.withResolvers<void>();
  const slow = heads.watch({
    ...eventStore,
    async load(name) {
      const found = await eventStore.load(name);
      await late.promise;
      return found;
    },
  });
  await eventStore.append('e', [event()], 'no_stream');
  const overtaken = slow.load('e');
  // On the same connection: once it is answered, so is the load.
  await eventStore.loadLast('e');
  pass(5);
  await slow.append('e', [event()], 0);
  late.resolve();
  await overtaken;
  t.is(heads.revisionOf('e'), 1);
  pass(knownForMs - 1);
  t.is(heads.revisionOf('e'), 1, 'from the append');
  pass(1);
  t.is(heads.revisionOf('e'), null);
});

test('the time of an answer is that of its question', async (t) => {
  const { heads, pass } = start();
  const slow = heads.watch({
    ...eventStore,
    async append(...args) {
      const appended = await eventStore.append(...args);
      pass(knownForMs);
      return appended;
    },
    async load(name) {
      const found = await eventStore.load(name);
      pass(knownForMs);
      return found;
    },
  });
  await slow.append('f', [event()], 'no_stream');
  t.is(heads.revisionOf('f'), null);
  await slow.load('f');
  t.is(heads.revisionOf('f'), null);
});

test('of too many streams, the one used least recently is forgotten', async (t) => {
  const { heads, store } = start(2);
  await store.append('g1', [event()], 'no_stream');
  await store.append('g2', [event()], 'no_stream');
  await store.load('g1');
  await store.append('g3', [event()], 'no_stream');
  t.deepEqual(
    ['g1', 'g2', 'g3'].map((name) => heads.revisionOf(name)),
    [0, null, 0],
  );
});
