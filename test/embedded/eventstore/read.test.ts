// Reads streams and $all through the official client: from any place, in both directions, with limits.
import {
  BACKWARDS,
  binaryEvent,
  END,
  FORWARDS,
  type Position,
  type ResolvedEvent,
  START,
} from '@eventstore/db-client';
import test from 'ava';
import { anEvent, aStream, bytesOf, collect, type Store, someEvents, withStore } from './harness.ts';

/** A stream of five events, in a store that has later ones. */
const FIVE = aStream('five');
let lastOfFive: Position;
let store: Store;
let client: Store['client'];
test.before(async () => {
  store = await withStore();
  client = store.client;
  const { position } = await client.appendToStream(FIVE, someEvents(5));
  lastOfFive = position ?? { commit: 0n, prepare: 0n };
  await client.appendToStream(aStream('after'), someEvents(2));
});
test.after.always(() => store.close());

const revisions = (events: ResolvedEvent[]): number[] => events.map(({ event }) => Number(event?.revision));
const commits = (events: { event?: { position: { commit: bigint } } }[]): bigint[] =>
  events.map(({ event }) => event?.position.commit ?? -1n);

test('a stream forwards', async (t) => {
  const read = async (options: Parameters<typeof client.readStream>[1]) =>
    revisions(await collect(client.readStream(FIVE, options)));
  t.deepEqual(await read({}), [0, 1, 2, 3, 4]);
  t.deepEqual(await read({ fromRevision: START, maxCount: 2 }), [0, 1]);
  t.deepEqual(await read({ fromRevision: 2n }), [2, 3, 4]);
  t.deepEqual(await read({ fromRevision: 2n, maxCount: 1 }), [2]);
  t.deepEqual(await read({ fromRevision: 4n, maxCount: 10 }), [4]);
  t.deepEqual(await read({ fromRevision: 5n }), []);
  t.deepEqual(await read({ fromRevision: 2n ** 64n - 1n }), []);
  t.deepEqual(await read({ fromRevision: END }), []);
  t.deepEqual(await read({ maxCount: 0 }), []);
});

test('a stream backwards', async (t) => {
  const read = async (options: Parameters<typeof client.readStream>[1]) =>
    revisions(await collect(client.readStream(FIVE, { direction: BACKWARDS, ...options })));
  t.deepEqual(await read({ fromRevision: END }), [4, 3, 2, 1, 0]);
  t.deepEqual(await read({ fromRevision: END, maxCount: 1 }), [4]);
  t.deepEqual(await read({ fromRevision: 1n }), [1, 0]);
  t.deepEqual(await read({ fromRevision: 99n }), [4, 3, 2, 1, 0]);
  t.deepEqual(await read({ fromRevision: START }), [0]);
});

test('a stream that does not exist', async (t) => {
  const stream = aStream('nowhere');
  const missing = { message: `${stream} not found` };
  for (const direction of [FORWARDS, BACKWARDS] as const) {
    const error = await t.throwsAsync<Error & { type?: string; streamName?: string }>(
      collect(client.readStream(stream, { direction, fromRevision: direction === FORWARDS ? START : END })),
      missing,
    );
    t.is(error.type, 'stream-not-found');
    t.is(error.streamName, stream);
  }
  t.is((await client.getStreamMetadata(stream)).metadata, undefined);
});

test('$all begins with a system event and continues in the order of the appends', async (t) => {
  const all = await collect(client.readAll());
  t.true(all[0]?.event?.streamId.startsWith('$'));
  const own = all.filter(({ event }) => event?.streamId === FIVE);
  t.deepEqual(revisions(own), [0, 1, 2, 3, 4]);
  t.deepEqual(
    commits(all),
    commits(all).toSorted((a, b) => Number(a - b)),
  );
  t.is(new Set(commits(all)).size, all.length);
  for (const { event, commitPosition } of all) {
    t.is(event?.position.prepare, event?.position.commit);
    t.is(commitPosition, event?.position.commit);
  }
});

test('reading $all forwards includes the given position, backwards excludes it', async (t) => {
  const forwards = await collect(client.readAll({ fromPosition: lastOfFive, maxCount: 2 }));
  t.is(forwards[0]?.event?.streamId, FIVE);
  t.is(forwards[0]?.event?.revision, 4n);
  t.is(forwards.length, 2);
  const backwards = await collect(
    client.readAll({ direction: BACKWARDS, fromPosition: lastOfFive, maxCount: 2 }),
  );
  t.deepEqual(revisions(backwards), [3, 2]);
});

test('$all from both ends', async (t) => {
  t.deepEqual(await collect(client.readAll({ fromPosition: END })), []);
  t.deepEqual(await collect(client.readAll({ direction: BACKWARDS, fromPosition: START })), []);
  const forwards = commits(await collect(client.readAll({ maxCount: 6 })));
  const all = commits(await collect(client.readAll({ direction: BACKWARDS, fromPosition: END })));
  t.deepEqual(all.toReversed().slice(0, 6), forwards);
  t.is((await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))).length, 1);
});

test('a stream longer than a page, of events larger than a page', async (t) => {
  const stream = aStream('long');
  for (let n = 0; n < 3; n += 1) await client.appendToStream(stream, someEvents(300));
  for (let n = 0; n < 6; n += 1) {
    await client.appendToStream(
      stream,
      binaryEvent({ type: 'large', data: new Uint8Array(1_000_000).fill(n) }),
    );
  }
  const forwards = await collect(client.readStream(stream));
  t.deepEqual(
    revisions(forwards),
    Array.from({ length: 906 }, (_, n) => n),
  );
  t.deepEqual([...new Set(bytesOf(forwards.at(-1)))], [5]);
  const backwards = await collect(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }));
  t.deepEqual(revisions(backwards), revisions(forwards).toReversed());
});

test('stream names with other characters than ASCII, with spaces, or very long', async (t) => {
  for (const stream of ['bayaran cukai ‐ \u{1F4B8}', ' ', "'; drop table events; --", 'x'.repeat(10_000)]) {
    await client.appendToStream(stream, anEvent({ n: 7 }, stream));
    const [read] = await collect(client.readStream(stream));
    t.is(read?.event?.streamId, stream);
    t.is(read?.event?.type, stream);
  }
});

test('a reader that cancels does not disturb the others', async (t) => {
  const stream = aStream('left');
  await client.appendToStream(stream, someEvents(5_000));
  for (let n = 0; n < 20; n += 1) {
    const reading = client.readStream(stream);
    for await (const _ of reading) break;
    await reading.cancel();
  }
  t.is((await collect(client.readStream(stream))).length, 5_000);
});

test('a link comes as it is, or with the event that it leads to', async (t) => {
  const [origin, links] = [aStream(), aStream()];
  await client.appendToStream(origin, someEvents(3));
  const link = (address: string) => binaryEvent({ type: '$>', data: Buffer.from(address) });
  const { position } = await client.appendToStream(links, [
    link(`1@${origin}`),
    anEvent(),
    link(`9@${origin}`),
    link('no address'),
  ]);
  const plain = await collect(client.readStream(links));
  t.deepEqual(
    plain.map(({ event, link }) => [event?.type, link]),
    [
      ['$>', undefined],
      ['tested', undefined],
      ['$>', undefined],
      ['$>', undefined],
    ],
  );
  const subscribed = async () => {
    const subscription = client.subscribeToStream(links, { resolveLinkTos: true });
    const seen: ResolvedEvent[] = [];
    for await (const event of subscription) if (seen.push(event) === 4) break;
    await subscription.unsubscribe();
    return seen;
  };
  const all = client.readAll({
    direction: BACKWARDS,
    fromPosition: END,
    maxCount: 500,
    resolveLinkTos: true,
  });
  const ofAll = (await collect(all))
    .filter(({ event, link }) => (link ?? event)?.streamId === links)
    .toReversed();
  for (const read of [
    await collect(client.readStream(links, { resolveLinkTos: true })),
    await subscribed(),
    ofAll,
  ]) {
    t.deepEqual(
      read.map(({ event, link }) => [event?.streamId, event?.revision, link?.revision]),
      [
        [origin, 1n, 0n],
        [links, 1n, undefined],
        [undefined, undefined, 2n],
        [undefined, undefined, 3n],
      ],
    );
    t.is(read[3]?.link?.position?.commit, position?.commit);
  }
});
