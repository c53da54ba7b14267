/** Reading streams. */
import { randomUUID } from 'node:crypto';
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';
import { EventStoreUnavailable, type RecordedEvent } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { until } from '../embedded/helpers.ts';
import { newEvent, open, range, startServer, startWire } from './helpers.ts';

test.serial('a stream of several pages, from any revision', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const events = range(2000).map((n) => newEvent(n));
  await store.append('payment-1', events, 'no_stream');
  await store.append('payment-1', [newEvent(2000)], 1999);
  const revisions = async (from?: number, limit?: number) =>
    (await store.load('payment-1', from, limit)).map(({ revision }) => revision);
  t.deepEqual(await revisions(), range(2001));
  t.deepEqual(await revisions(1000), range(2001).slice(1000));
  t.deepEqual(await revisions(1999), [1999, 2000]);
  t.deepEqual(await revisions(2001), []);
  t.deepEqual(await revisions(9999), []);
  t.deepEqual(await revisions(7, 2), [7, 8]);
  t.deepEqual(await revisions(500, 1200), range(1700).slice(500));
  t.deepEqual(await revisions(1999, 9), [1999, 2000]);
  t.is((await store.loadLast('payment-1'))?.data, 2000);
});

test.serial('the end of the log is the position of its last event, in any stream', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const { position } = await store.append('payment-1', [newEvent(0), newEvent(1)], 'no_stream');
  t.deepEqual(await store.head(), position);
  const next = await store.append('user-1', [newEvent(2)], 'no_stream');
  t.deepEqual(await store.head(), next.position);
});

test.serial('a stream that does not exist has no events', async (t) => {
  const store = open(t, (await startServer(t)).port);
  t.deepEqual(await store.load('payment-1'), []);
  t.deepEqual(await store.load('payment-1', 5), []);
  t.is(await store.loadLast('payment-1'), null);
});

test.serial('an event that is not JSON is handed over as its bytes', async (t) => {
  const { port } = await startServer(t);
  const foreign = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);
  const bytes = new Uint8Array([0, 255, 1]);
  const event = binaryEvent({ id: randomUUID(), type: 'Foreign', data: bytes, metadata: bytes });
  await foreign.appendToStream('payment-1', event, { expectedRevision: 'no_stream' });
  await foreign.dispose();

  const store = open(t, port);
  const isAsStored = ({ type, data, metadata }: RecordedEvent) => {
    t.is(type, 'Foreign');
    t.deepEqual(
      [Uint8Array.from(data as Uint8Array), Uint8Array.from(metadata as Uint8Array)],
      [bytes, bytes],
    );
  };
  const [stored] = await store.load('payment-1');
  t.truthy(stored);
  if (stored) isAsStored(stored);
  const messages = store.subscribe({
    streamPrefixes: ['payment-'],
    after: null,
    signal: new AbortController().signal,
  });
  for await (const message of messages) {
    if (message.kind !== 'event') continue;
    isAsStored(message.event);
    break;
  }
});

test.serial('an interrupted read is never taken for a whole one', async (t) => {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  const store = open(t, wire.port);
  const writer = open(t, server.port);
  const text = 'x'.repeat(9_000);
  for (const n of range(8))
    await writer.append(
      'payment-1',
      range(100).map(() => newEvent(text)),
      n ? n * 100 - 1 : 'no_stream',
    );
  t.is((await store.load('payment-1')).length, 800);

  for (const share of [0.1, 0.5, 0.9]) {
    const answersBefore = wire.bytes.answers;
    const load = store.load('payment-1');
    await until(() => wire.bytes.answers - answersBefore > share * 800 * 9_000);
    wire.cut();
    t.is((await load).length, 800);
  }

  const answersBefore = wire.bytes.answers;
  const load = store.load('payment-1');
  await until(() => wire.bytes.answers > answersBefore);
  await store.close();
  await t.throwsAsync(load, { instanceOf: EventStoreUnavailable });
});
