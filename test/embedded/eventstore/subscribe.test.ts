// Subscriptions through the official client: where they start, catching up, filters, checkpoints, slow readers.
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import {
  type AllStreamSubscription,
  END,
  eventTypeFilter,
  excludeSystemEvents,
  type Filter,
  type Position,
  START,
  type StreamSubscription,
  streamNameFilter,
} from '@eventstore/db-client';
import test from 'ava';
import { anEvent, aStream, collect, type Store, someEvents, withStore } from './harness.ts';

let store: Store;
let client: Store['client'];
test.before(async () => {
  store = await withStore();
  client = store.client;
});
test.after.always(() => store.close());

const LAST = 'last';
type Subscription = StreamSubscription | AllStreamSubscription;

/** The data of all events up to the one of type LAST. */
async function untilLast(subscription: Subscription): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const { event } of subscription) {
      if (event?.type === LAST) return seen;
      seen.push(event?.data);
    }
    return seen;
  } finally {
    await subscription.unsubscribe();
  }
}

/** The data of all events up to the one with number `last`. */
async function dataUpTo(last: number, subscription: Subscription): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { event } of subscription) {
    seen.push(event?.data);
    if (isDeepStrictEqual(event?.data, { n: last })) break;
  }
  await subscription.unsubscribe();
  return seen;
}

const numbered = (from: number, count: number): unknown[] =>
  Array.from({ length: count }, (_, n) => ({ n: from + n }));
const eventsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => anEvent({ n: from + n }));

test('to a stream: from the start, after a revision, from the end', async (t) => {
  const stream = aStream();
  await client.appendToStream(stream, eventsFrom(0, 4));
  const subscriptions = [
    client.subscribeToStream(stream),
    client.subscribeToStream(stream, { fromRevision: START }),
    client.subscribeToStream(stream, { fromRevision: 0n }),
    client.subscribeToStream(stream, { fromRevision: 2n }),
    client.subscribeToStream(stream, { fromRevision: END }),
  ];
  const seen = subscriptions.map(untilLast);
  await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')));
  await client.appendToStream(aStream('other'), someEvents(3));
  await client.appendToStream(stream, eventsFrom(4, 2));
  await client.appendToStream(stream, anEvent({ n: -1 }, LAST));
  const [whole, fromStart, afterFirst, afterThird, fromEnd] = await Promise.all(seen);
  t.deepEqual(whole, numbered(0, 6));
  t.deepEqual(fromStart, numbered(0, 6));
  t.deepEqual(afterFirst, numbered(1, 5));
  t.deepEqual(afterThird, numbered(3, 3));
  t.deepEqual(fromEnd, numbered(4, 2));
});

test('to a stream that does not exist yet', async (t) => {
  const stream = aStream('future');
  const subscription = client.subscribeToStream(stream);
  const seen = untilLast(subscription);
  await once(subscription, 'caughtUp');
  await client.appendToStream(stream, eventsFrom(0, 2));
  await client.appendToStream(stream, anEvent({ n: -1 }, LAST));
  t.deepEqual(await seen, numbered(0, 2));
});

test('to $all: from the start, after a position, from the end', async (t) => {
  const stream = aStream('all');
  const type = aStream('type');
  const filtered = { filter: eventTypeFilter({ prefixes: [type] }) };
  const { position } = await client.appendToStream(stream, [
    anEvent({ n: 0 }, type),
    anEvent({ n: 1 }, type),
  ]);
  await client.appendToStream(stream, anEvent({ n: 2 }, type));
  const subscriptions = [
    client.subscribeToAll({ ...filtered }),
    client.subscribeToAll({ ...filtered, ...(position && { fromPosition: position }) }),
    client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ prefixes: [stream] }) }),
  ];
  const seen = subscriptions.map((subscription) => dataUpTo(3, subscription));
  await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')));
  await client.appendToStream(stream, anEvent({ n: 3 }, type));
  const [whole, after, fromEnd] = await Promise.all(seen);
  t.deepEqual(whole, numbered(0, 4));
  t.deepEqual(after, numbered(2, 2));
  t.deepEqual(fromEnd, numbered(3, 1));
});

const key = aStream('filtered');
const filters: [string, Filter, (name: string) => { stream: string; type: string }][] = [
  [
    'prefixes of the stream',
    streamNameFilter({ prefixes: [`1${key}`, `x${key}`] }),
    (name) => ({ stream: `1${key}-${name}`, type: 't' }),
  ],
  [
    'a regex on the stream',
    streamNameFilter({ regex: `^[0-9]2${key}-` }),
    (name) => ({ stream: `12${key}-${name}`, type: 't' }),
  ],
  [
    'prefixes of the type',
    eventTypeFilter({ prefixes: [`3${key}`] }),
    (name) => ({ stream: aStream(), type: `3${key}-${name}` }),
  ],
  [
    'a regex on the type',
    eventTypeFilter({ regex: `^(x|4${key}-.)$` }),
    (name) => ({ stream: aStream(), type: `4${key}-${name}` }),
  ],
];
for (const [title, filter, named] of filters) {
  test(`a filter by ${title}`, async (t) => {
    const append = async (name: string, n: number) => {
      const { stream, type } = named(name);
      await client.appendToStream(stream, anEvent({ n }, type));
      await client.appendToStream(aStream('noise'), someEvents(3));
    };
    await append('a', 0);
    const subscription = client.subscribeToAll({ filter });
    const done = dataUpTo(2, subscription);
    await once(subscription, 'caughtUp');
    await append('b', 1);
    await append('c', 2);
    t.deepEqual(await done, numbered(0, 3));
  });
}

test('a subscription reports once that it has caught up, after the existing events', async (t) => {
  const stream = aStream();
  await client.appendToStream(stream, someEvents(700));
  const subscription = client.subscribeToStream(stream);
  let seen = 0;
  let caughtUp = 0;
  subscription.on('caughtUp', () => {
    caughtUp += 1;
  });
  for await (const { event } of subscription) {
    seen += 1;
    if (seen === 700) await client.appendToStream(stream, anEvent());
    if (seen === 701) await client.appendToStream(stream, anEvent({ n: 0 }, LAST));
    if (event?.type === LAST) break;
  }
  await subscription.unsubscribe();
  t.is(seen, 702);
  t.is(caughtUp, 1);
});

test('checkpoints come at every interval of events examined, never ahead of an event still to be sent', async (t) => {
  const stream = aStream('checkpoints');
  const { position: before } = await client.appendToStream(stream, anEvent());
  const marks: (Position | { event: bigint })[] = [];
  const subscription = client.subscribeToAll({
    ...(before && { fromPosition: before }),
    filter: streamNameFilter({
      prefixes: [stream],
      checkpointInterval: 2,
      maxSearchWindow: 10,
      checkpointReached: async (_, position) => void marks.push(position),
    }),
  });
  subscription.on('data', ({ event }) => event && marks.push({ event: event.position.commit }));
  await once(subscription, 'caughtUp');
  const { position: last } = await client.appendToStream(stream, someEvents(60));
  while (!marks.some((mark) => 'commit' in mark && mark.commit === last?.commit)) {
    await client.appendToStream(aStream('noise'), anEvent());
    if (marks.some((mark) => 'commit' in mark && mark.commit > (last?.commit ?? 0n))) break;
  }
  await subscription.unsubscribe();
  let latest = 0n;
  for (const mark of marks) {
    if ('event' in mark) t.true(mark.event > latest, 'an event behind a checkpoint');
    else latest = mark.commit;
  }
  t.is(marks.filter((mark) => 'event' in mark).length, 60);
  // 60 events at intervals of 20, and one on having caught up; appends of other tests may add some.
  t.true(marks.filter((mark) => 'commit' in mark).length >= 4);
});

test('system events can be left out', async (t) => {
  await client.appendToStream(aStream(), anEvent());
  const subscription = client.subscribeToAll({ filter: excludeSystemEvents() });
  const types: (string | undefined)[] = [];
  subscription.on('data', ({ event }) => types.push(event?.type));
  await once(subscription, 'caughtUp');
  await subscription.unsubscribe();
  t.true(types.length > 0);
  t.false(types.some((type) => type?.startsWith('$')));
});

for (const regex of [
  '(',
  'x',
  '^(a+)+$',
  '^(a|a)(a|a)$',
  '^(a|(b))$',
  '^a*b$',
  '^a{9}',
  '^[z-a]$',
  `^${'[^a]'.repeat(40)}+`,
  '^\\w+$',
  `^${'a'.repeat(16_384)}`,
])
  test(`a regular expression that may be invalid or slow is refused: ${regex.slice(0, 20)}`, async (t) => {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ regex }) });
    await t.throwsAsync(collect(subscription), { message: /takes no such regular expression/ });
  });

test('a slow reader receives everything in order while others continue', async (t) => {
  const stream = aStream('slow');
  const subscription = client.subscribeToStream(stream);
  const slow = (async () => {
    const seen: unknown[] = [];
    for await (const { event } of subscription) {
      if (event?.type === LAST) break;
      seen.push(event?.data);
      if (seen.length % 500 === 1) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await subscription.unsubscribe();
    return seen;
  })();
  for (let n = 0; n < 3_000; n += 300) await client.appendToStream(stream, eventsFrom(n, 300));
  await client.appendToStream(stream, anEvent({ n: -1 }, LAST));
  t.deepEqual(await slow, numbered(0, 3_000));
});
