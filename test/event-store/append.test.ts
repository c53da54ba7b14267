/** Appends to a store that is well: what comes back, what is refused, and races. */
import { createAppend } from '@ledger/event-store/append.ts';
import {
  EventStoreUnavailable,
  type RecordedEvent,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import { createClient, hooksOf } from '@ledger/event-store/new-client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { startServerProcess } from '../support/event-store.ts';
import { newEvent, open, range, startServer } from './helpers.ts';

test.serial('answers with the revision and position that are stored', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const events = [newEvent({ text: 'Cik Siti 🏦', n: 1.5 }), newEvent(['a', null])];
  const appended = await store.append('payment-1', events, 'no_stream');
  const stored = await store.load('payment-1');
  t.like(appended, { revision: 1, position: stored[1]?.position });
  t.deepEqual(
    stored.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
    events,
  );
});

test.serial('of many at the same revision one goes through; the others are told the revision', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const results = await Promise.allSettled(
    range(20).map(() => store.append('payment-1', [newEvent()], 'no_stream')),
  );
  const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason);
  t.is(refused.length, 19);
  for (const error of refused) {
    t.true(error instanceof WrongExpectedRevision);
    t.is(error.message, 'Stream payment-1 is at 0, not at no_stream');
  }
  await t.throwsAsync(store.append('payment-2', [newEvent()], 3), {
    instanceOf: WrongExpectedRevision,
    message: 'Stream payment-2 is at no_stream, not at 3',
  });
});

test.serial('a repeat adds nothing and gets the answer of the first', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const events = [newEvent(), newEvent()];
  const first = await store.append('payment-1', events, 'no_stream');
  await store.append('payment-1', [newEvent()], 1);
  t.deepEqual(await store.append('payment-1', events, 'no_stream'), first);
  t.is((await store.load('payment-1')).length, 3);
});

const [event, epoch] = [newEvent(), {}];
const position = { commit: 7n, prepare: 7n };
const stored = { ...event, streamName: 'payment-1', revision: 0, position, epoch, created: new Date(0) };
/** Appends `event` to a stream that a store of the test's own has. */
const appendWith = (store: Pick<Parameters<typeof createAppend>[0], 'attempt' | 'load'>) =>
  createAppend({
    ...store,
    attemptMs: 1_000,
    whyAway: () => null,
    giveUpAfterMs: 1,
    runtime: systemRuntime,
    signal: new AbortController().signal,
  })('payment-1', [event], 'no_stream');

test('a confirmation without a place is looked up in the stream, and believed only if the events are there', async (t) => {
  const appendTo = (stream: RecordedEvent[]) =>
    appendWith({ attempt: async () => ({ revision: 0, position: null, epoch }), load: async () => stream });
  t.deepEqual(await appendTo([stored]), { revision: 0, position, epoch });
  await t.throwsAsync(appendTo([]), { instanceOf: EventStoreUnavailable });
  await t.throwsAsync(appendTo([{ ...stored, id: newEvent().id }]), { instanceOf: WrongExpectedRevision });
});

test('sent again while the first attempt arrived after all, an append is stored, not refused', async (t) => {
  const stream: RecordedEvent[] = [];
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('The answer is lost');
    stream.push(stored);
    throw new WrongExpectedRevision('payment-1', 'no_stream', 0);
  };
  t.deepEqual(await appendWith({ attempt, load: async () => stream }), { revision: 0, position, epoch });
});

test.serial('an append that cannot be sent is refused here and harms no other append', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const good = range(10).map((n) => store.append(`payment-${n}`, [newEvent()], 'no_stream'));
  const bad = [
    store.append('payment-x', [], 'no_stream'),
    store.append('', [newEvent()], 'no_stream'),
    store.append('payment-x', [{ ...newEvent(), id: 'none' }], 'no_stream'),
    store.append('payment-x', [{ ...newEvent(), type: '' }], 'no_stream'),
    store.append('payment-x', [newEvent(1n)], 'no_stream'),
    store.append('payment-x', [{ ...newEvent(), data: undefined }], 'no_stream'),
    store.append('payment-x', [{ ...newEvent(), metadata: undefined }], 'no_stream'),
    store.append('payment-x', [newEvent('x'.repeat(1024 * 1024))], 'no_stream'),
    store.append('payment-x', [newEvent()], -1),
    store.append('payment-x', [newEvent()], 0.5),
  ];
  for (const append of bad) {
    const error = await t.throwsAsync(append);
    t.true(error instanceof RangeError || error instanceof TypeError, String(error));
  }
  for (const append of good) t.is((await append).revision, 0);
  t.deepEqual(await store.load('payment-x'), []);
});

test.serial('just under the limit goes through', async (t) => {
  const store = open(t, (await startServer(t)).port);
  const text = 'x'.repeat(500_000);
  await store.append('payment-1', [newEvent(text), newEvent(text)], 'no_stream');
  t.deepEqual(
    (await store.load('payment-1')).map(({ data }) => data),
    [text, text],
  );
});

test('two connections of one process append side by side', async (t) => {
  const server = await startServer(t);
  const stores = [open(t, server.port), open(t, server.port)];
  await Promise.all(
    stores.map((store, index) => store.append(`payment-${index}`, [newEvent()], 'no_stream')),
  );
  t.is((await stores[0]?.load('payment-1'))?.length, 1);
});

test.serial('closing lets pending appends finish and accepts no more', async (t) => {
  const { port } = await startServer(t);
  const store = open(t, port);
  const pending = range(50).map((n) => store.append(`payment-${n}`, [newEvent()], 'no_stream'));
  await store.close();
  for (const append of pending) t.is((await append).revision, 0);
  await t.throwsAsync(store.append('payment-1', [newEvent()], 0), { instanceOf: EventStoreUnavailable });
  await t.throwsAsync(store.load('payment-1'), { instanceOf: EventStoreUnavailable });
});

test.serial('closing does not wait for ever for a frozen server', async (t) => {
  const server = await startServerProcess(t);
  const store = open(t, server.port, { callDeadlineMs: 200, giveUpAfterMs: 60_000 });
  await store.append('payment-1', [newEvent()], 'no_stream');
  server.signal('SIGSTOP');
  const append = store.append('payment-1', [newEvent()], 0);
  const [, outcome] = await Promise.allSettled([store.close(), append]);
  t.true(outcome.status === 'rejected' && outcome.reason instanceof EventStoreUnavailable);
});

test('credentials are sent without encryption to this machine alone', (t) => {
  const sentTo = (url: string) => hooksOf(createClient(url)).callArguments({})[0].get('authorization');
  const basic = `Basic ${Buffer.from('ledger:a secret').toString('base64')}`;
  for (const host of ['127.0.0.1:2113', 'localhost'])
    t.deepEqual(sentTo(`esdb://ledger:a%20secret@${host}?keepAliveTimeout=3000&tls=false`), [basic], host);
  for (const host of ['10.0.0.7:2113', '127.0.0.1.example:2113', '127.0.0.1:2113,10.0.0.7:2113'])
    t.deepEqual(sentTo(`esdb://ledger:a%20secret@${host}?tls=false`), [], host);
  t.deepEqual(sentTo('esdb://ledger:a%20secret@127.0.0.1:2113?tls=true'), [], 'the client sends them itself');
});
