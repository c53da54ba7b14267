/** What comes next in the log, for whoever must know whether anything does. */
import { once } from 'node:events';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { startServerProcess } from '../support/event-store.ts';
import { newEvent, open, range, startServer, startWire } from './helpers.ts';

const never = () => new AbortController().signal;
const streamPrefixes = ['user-', 'project-'];

test.serial('the first event of the requested streams after a position; null at the end', async (t) => {
  const store = open(t, (await startServer(t)).port);
  t.is(await store.firstAfter({ streamPrefixes, after: null, signal: never() }), null);
  for (const n of range(600)) await store.append(`payment-${n}`, [newEvent()], 'no_stream');
  t.is(await store.firstAfter({ streamPrefixes, after: null, signal: never() }), null);
  const { position } = await store.append('user-1', [newEvent()], 'no_stream');
  const second = await store.append('project-1', [newEvent(), newEvent()], 'no_stream');
  const next = async (after: typeof position | null) => {
    const event = await store.firstAfter({ streamPrefixes, after, signal: never() });
    return event && [event.streamName, event.revision];
  };
  t.deepEqual(await next(null), ['user-1', 0]);
  t.deepEqual(await next(position), ['project-1', 0]);
  t.is(await next(second.position), null);
  const all = async (after: typeof position | null, limit: number) => {
    const events = await store.eventsAfter({ streamPrefixes, after, signal: never() }, limit);
    return events.map(({ streamName, revision }) => `${streamName}@${revision}`);
  };
  t.deepEqual(await all(null, 2), ['user-1@0', 'project-1@0']);
  t.deepEqual(await all(null, 1_000), ['user-1@0', 'project-1@0', 'project-1@1']);
  t.deepEqual(await all(second.position, 1_000), []);
});

test.serial('many at once, and none is left open', async (t) => {
  const server = await startServer(t);
  const wire = await startWire(t, server.port);
  const [writer, store] = [open(t, server.port), open(t, wire.port)];
  await writer.append('user-1', range(300).map(newEvent), 'no_stream');
  const found = await Promise.all(
    range(100).map(() => store.firstAfter({ streamPrefixes, after: null, signal: never() })),
  );
  t.true(found.every((event) => event?.revision === 0));
  const before = wire.bytes.answers;
  await writer.append('user-2', [newEvent('x'.repeat(30_000))], 'no_stream');
  await store.load('payment-none');
  t.true(wire.bytes.answers - before < 30_000);
});

test.serial('a connection that is closed leaves no socket open', async (t) => {
  const wire = await startWire(t, (await startServer(t)).port);
  const store = open(t, wire.port);
  await store.firstAfter({ streamPrefixes, after: null, signal: never() });
  const cut = Array.from(wire.connections, (socket) => once(socket, 'close'));
  t.is(cut.length, 1);
  await store.close();
  await Promise.all(cut);
});

test.serial(
  'a store that is frozen or gone does not answer in time; once it is back, it answers',
  async (t) => {
    const server = await startServerProcess(t);
    const store = open(t, server.port);
    const ask = (signal: AbortSignal) => store.firstAfter({ streamPrefixes, after: null, signal });
    server.signal('SIGSTOP');
    await t.throwsAsync(ask(AbortSignal.timeout(200)), { instanceOf: EventStoreUnavailable });
    server.signal('SIGCONT');
    t.is(await ask(never()), null);
    await server.end('SIGKILL');
    await t.throwsAsync(ask(AbortSignal.timeout(200)), { instanceOf: EventStoreUnavailable });
    await server.start();
    t.is(await ask(never()), null);
    t.deepEqual(store.logged, [], 'whoever asked hears of it, and nobody else');
  },
);
