// The one reader of a process: whatever the pace of its readers and however often it breaks, each gets exactly its events.
import {
  type EventStore,
  EventStoreUnavailable,
  type Position,
  type RecordedEvent,
  type Selection,
  type SubscriptionMessage,
} from '@ledger/event-store/event-store.ts';
import { createSharedReader } from '@ledger/projections/runtime/shared-reader.ts';
import test from 'ava';
import fc from 'fast-check';
import { until } from '../../embedded/helpers.ts';
import { runs } from '../../support/property-runs.ts';
import { append, methodChosen, paymentRequested, startStore } from '../helpers.ts';

type Subscribe = Pick<EventStore, 'subscribe'>;

const streams = ['payment-A', 'payment-B', 'user-A', 'session-A'];
const at = (place: number): Position => ({ commit: BigInt(place), prepare: BigInt(place) });

function eventAt(place: number, stream: number): RecordedEvent {
  const streamName = streams[stream % streams.length] ?? '';
  const data = { note: 'x'.repeat(10 * stream) };
  const written = { type: 'Noted', data, metadata: {}, created: new Date(0) };
  return { ...written, id: `${place}`, streamName, revision: place, position: at(place) };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

/** A log that grows. Its subscriptions are as slow as `pace` says, and break after so many messages as `breaks` say. */
function growingLog(pace: () => number, breaks: () => number) {
  const events: RecordedEvent[] = [];
  const open = new Set<object>();
  /** Where each subscription began, and the event by which it recognises the log. */
  const opened: { after: bigint | undefined; processed: string | undefined }[] = [];
  async function* subscribe(options: Parameters<EventStore['subscribe']>[0]) {
    const { signal, after, processed, ...selection } = options;
    const prefixes = 'streamPrefixes' in selection ? selection.streamPrefixes : [];
    const call = {};
    open.add(call);
    opened.push({ after: after?.commit, processed: processed?.id });
    try {
      let next = after ? Number(after.commit) : 0;
      let left = breaks();
      let isCaughtUp = false;
      while (!signal.aborted) {
        await turns(1 + pace());
        const event = events[next];
        let message: SubscriptionMessage;
        if (!event) {
          if (isCaughtUp) continue;
          isCaughtUp = true;
          message = { kind: 'caught_up' };
        } else {
          next += 1;
          if (prefixes.some((prefix) => event.streamName.startsWith(prefix)))
            message = { kind: 'event', event };
          else if (next % 3 === 0) message = { kind: 'checkpoint', position: event.position };
          else continue;
        }
        left -= 1;
        if (left === 0) throw new EventStoreUnavailable('The log cannot be read on');
        yield message;
      }
    } finally {
      open.delete(call);
    }
  }
  return { events, open, opened, subscribe };
}

const small = fc.nat({ max: 4 });

test('each reader gets its events in order and once, whatever the pace, the size, and what breaks', async (t) => {
  const scenario = fc.record({
    appended: fc.array(fc.tuple(small, small), { minLength: 1, maxLength: 60 }),
    readers: fc.array(
      fc.record({
        prefix: fc.constantFrom('payment-', 'user-', 'session-', 'none-'),
        pace: small,
        start: small,
      }),
      { minLength: 1, maxLength: 4 },
    ),
    size: fc.record({ messages: fc.integer({ min: 1, max: 8 }), text: fc.integer({ min: 0, max: 200 }) }),
    paces: fc.array(small, { minLength: 1, maxLength: 8 }),
    breaks: fc.array(fc.integer({ min: 2, max: 40 }), { minLength: 1, maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ appended, readers, size, paces, breaks }) => {
      let drawn = 0;
      const from = (values: readonly number[]) => values[drawn++ % values.length] ?? 0;
      const log = growingLog(
        () => from(paces),
        () => from(breaks),
      );
      const selection: Selection = { streamPrefixes: readers.map(({ prefix }) => prefix) };
      const shared = createSharedReader<Subscribe>(log, selection, size);
      const stopping = new AbortController();
      const found = readers.map((): number[] => []);
      const all = readers.map(async ({ prefix, pace, start }, index) => {
        const got = found[index] ?? [];
        let after: Position | null = null;
        await turns(start * 10);
        while (!stopping.signal.aborted)
          try {
            const { signal } = stopping;
            const messages: AsyncIterable<SubscriptionMessage> = shared.subscribe({
              streamPrefixes: [prefix],
              after,
              signal,
            });
            for await (const message of messages) {
              await turns(pace);
              if (message.kind === 'event') got.push(message.event.revision);
              if (message.kind === 'event') after = message.event.position;
              if (message.kind === 'checkpoint') after = message.position;
            }
          } catch (error) {
            if (!(error instanceof EventStoreUnavailable)) throw error;
          }
      });
      for (const [stream, pause] of appended) {
        log.events.push(eventAt(log.events.length + 1, stream));
        await turns(pause);
      }
      const expected = readers.map(({ prefix }) =>
        log.events.filter(({ streamName }) => streamName.startsWith(prefix)).map(({ revision }) => revision),
      );
      const isDone = () => found.every((got, index) => got.length >= (expected[index]?.length ?? 0));
      for (let turn = 0; turn < 5_000 && !isDone(); turn += 1) await turns(1);
      await turns(20);
      stopping.abort();
      await Promise.all(all);
      t.deepEqual(found, expected);
      await turns(20);
      t.is(log.open.size, 0, 'nothing is read any more');
    }),
    { numRuns: runs(100) },
  );
});

test('a reader whose events are rare is told by which event of others the log can be recognised', async (t) => {
  const log = growingLog(
    () => 0,
    () => 1_000_000,
  );
  const streamPrefixes = ['payment-', 'user-'];
  const shared = createSharedReader<Subscribe>(log, { streamPrefixes });
  const stopping = new AbortController();
  const { signal } = stopping;
  const passed: (readonly [position: bigint, id: string | undefined])[] = [];
  const reading = (async () => {
    for await (const message of shared.subscribe({ streamPrefixes: ['user-'], after: null, signal }))
      if (message.kind === 'checkpoint') passed.push([message.position.commit, message.passed?.id]);
  })();
  // It has caught up with an empty log.
  await turns(20);
  for (let place = 1; place <= 1_100; place += 1) log.events.push(eventAt(place, 0));
  await until(() => passed.length === 2);
  stopping.abort();
  await reading;
  t.deepEqual(passed, [
    [512n, '512'],
    [1_024n, '1024'],
  ]);
});

test('a reader that stands still is kept a limited amount of text, and reads the rest by itself', async (t) => {
  const log = growingLog(
    () => 0,
    () => 1_000_000,
  );
  const streamPrefixes = ['payment-', 'user-'];
  const shared = createSharedReader<Subscribe>(log, { streamPrefixes }, { messages: 2_000, text: 200 });
  const stopping = new AbortController();
  const { signal } = stopping;
  const got: number[] = [];
  const go = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const message of shared.subscribe({ streamPrefixes: ['user-'], after: null, signal })) {
      if (message.kind !== 'event') continue;
      got.push(message.event.revision);
      await go.promise;
    }
  })();
  await turns(20);
  log.events.push(eventAt(1, 2));
  await until(() => got.length === 1);
  const before = log.opened.length;
  for (let place = 2; place <= 30; place += 1) log.events.push(eventAt(place, 2));
  await turns(200);
  go.resolve();
  await until(() => got.length === 30);
  t.true(log.opened.length > before, 'it had to read by itself again');
  stopping.abort();
  await reading;
  t.deepEqual(
    got,
    log.events.map(({ revision }) => revision),
  );
});

test('a reader that stood still recognises the log by the last event that it or others have passed', async (t) => {
  const log = growingLog(
    () => 0,
    () => 1_000_000,
  );
  const streamPrefixes = ['payment-', 'user-'];
  const size = { messages: 600, text: 1_000_000 };
  const shared = createSharedReader<Subscribe>(log, { streamPrefixes }, size);
  const stopping = new AbortController();
  const { signal } = stopping;
  const reading = shared.subscribe({ streamPrefixes: ['user-'], after: null, signal });
  const messages = reading[Symbol.asyncIterator]();
  const add = (count: number, stream: number) => {
    for (let more = 0; more < count; more += 1) log.events.push(eventAt(log.events.length + 1, stream));
  };
  /** Begins to read before they are added, and afterwards stands still while others are. */
  const standStill = async (added: number, stream: number, kind: SubscriptionMessage['kind']) => {
    const next = messages.next();
    await turns(20);
    add(added, stream);
    t.is((await next).value?.kind, kind);
    add(700, 2);
    await turns(1_500);
    await messages.next();
    return log.opened.at(-1);
  };
  await messages.next();
  t.deepEqual(await standStill(1, 2, 'event'), { after: 1n, processed: '1' });
  while ((await messages.next()).value?.kind !== 'caught_up');
  t.deepEqual(await standStill(512, 0, 'checkpoint'), { after: 1_213n, processed: '1213' });
  stopping.abort();
  await messages.return?.();
});

test('a reader that gives up after some failures does so although one that never does began to read first', async (t) => {
  let isAway = false;
  async function* subscribe({ signal, maxFailures }: Parameters<EventStore['subscribe']>[0]) {
    if (!isAway) yield { kind: 'caught_up' } as const;
    while (!signal.aborted) {
      await turns(1);
      if (isAway && maxFailures !== undefined) throw new EventStoreUnavailable('The log cannot be read on');
    }
  }
  const reader = createSharedReader({ subscribe }, { streamPrefixes: streams });
  const stopping = new AbortController();
  const read = async (limit: { maxFailures?: number }) => {
    const options = { streamPrefixes: streams, after: null, signal: stopping.signal, ...limit };
    for await (const _ of reader.subscribe(options));
    return 'stopped';
  };
  const patient = read({});
  await turns(10);
  const leader = read({ maxFailures: 4 }).catch((error: unknown) => error);
  await turns(10);
  isAway = true;
  t.true((await Promise.race([leader, turns(1_000)])) instanceof EventStoreUnavailable);
  stopping.abort();
  t.is(await patient, 'stopped', 'the other waits for the log');
});

test('at the head there is one subscription for all, and none when all have left', async (t) => {
  const { eventStore } = await startStore(t);
  let open = 0;
  async function* subscribe(options: Parameters<EventStore['subscribe']>[0]) {
    open += 1;
    try {
      yield* eventStore.subscribe(options);
    } finally {
      open -= 1;
    }
  }
  const streamPrefixes = ['payment-', 'user-', 'project-'];
  const shared = createSharedReader<Subscribe>({ subscribe }, { streamPrefixes });
  await append(eventStore, 'A', [paymentRequested()]);
  const stopping = new AbortController();
  const { signal } = stopping;
  const got: string[] = [];
  const reading = streamPrefixes.map(async (prefix) => {
    for await (const message of shared.subscribe({ streamPrefixes: [prefix], after: null, signal }))
      if (message.kind === 'event') got.push(message.event.type);
  });
  await until(() => open === 1 && got.length === 1);
  await append(eventStore, 'A', [methodChosen()], 0);
  await until(() => got.length === 2);
  t.is(open, 1);
  stopping.abort();
  await Promise.all(reading);
  await until(() => open === 0);
  t.deepEqual(got, ['PaymentRequested', 'PaymentMethodChosen']);
});
