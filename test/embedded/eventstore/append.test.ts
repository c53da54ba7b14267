// Both kinds of append, as the official client sends them: what is accepted, repeated or refused.
import {
  ANY,
  type AppendToStreamOptions,
  binaryEvent,
  type ErrorType,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
} from '@eventstore/db-client';
import ava, { type ExecutionContext } from 'ava';
import { anEvent, aStream, bytesOf, collect, type Store, someEvents, UNARY, withStore } from './harness.ts';

let store: Store;
let client: Store['client'];
ava.before(async () => {
  store = await withStore();
  client = store.client;
});
ava.after.always(() => store.close());

type Fields = { type?: ErrorType | string; code?: number; message?: string; [field: string]: unknown };

async function refused(t: ExecutionContext, append: Promise<unknown>, expected: Fields): Promise<void> {
  const error = await t.throwsAsync<Error & Fields>(append);
  for (const [field, value] of Object.entries(expected)) t.deepEqual(error?.[field], value, field);
}

for (const [kind, how] of [
  ['batch append', {}],
  ['append', UNARY],
] as const) {
  const append = (
    stream: string,
    events: Parameters<typeof client.appendToStream>[1],
    options: AppendToStreamOptions = {},
  ) => client.appendToStream(stream, events, { ...how, ...options });
  const test = (title: string, run: (t: ExecutionContext) => Promise<void>) => ava(`${kind}: ${title}`, run);

  test('the answer has the revision and the position that reading shows', async (t) => {
    const stream = aStream();
    const result = await append(stream, someEvents(3), { expectedRevision: NO_STREAM });
    t.true(result.success);
    t.is(result.nextExpectedRevision, 2n);
    const events = await collect(client.readStream(stream));
    t.deepEqual(
      events.map(({ event }) => event?.revision),
      [0n, 1n, 2n],
    );
    t.deepEqual(events[2]?.event?.position, result.position);
    t.is(events[2]?.commitPosition, result.position?.commit);
  });

  test('JSON, binary data and metadata come back unchanged', async (t) => {
    const stream = aStream();
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const text = 'Jalan Ampang ‐ 1830 \u{1F4B8}';
    const beforeMs = Date.now();
    await append(stream, [
      jsonEvent({ type: 'json', data: { text }, metadata: { by: 'kaunter' } }),
      jsonEvent({ type: 'json-text', data: text }),
      binaryEvent({ type: 'binary', data: bytes, metadata: bytes }),
      binaryEvent({ type: 'empty', data: new Uint8Array() }),
    ]);
    const read = await collect(client.readStream(stream));
    const [json, jsonText, binary] = read.map(({ event }) => event);
    t.deepEqual(json?.data, { text });
    t.deepEqual(json?.metadata, { by: 'kaunter' });
    t.true(json?.isJson);
    t.is(json?.streamId, stream);
    t.true((json?.created.getTime() ?? 0) >= beforeMs && (json?.created.getTime() ?? 0) <= Date.now());
    t.deepEqual<unknown, unknown>(jsonText?.data, text);
    t.is(jsonText?.metadata, undefined);
    t.false(binary?.isJson);
    t.deepEqual(bytesOf(read[2]), bytes);
    t.deepEqual(new Uint8Array(binary?.metadata as Uint8Array), bytes);
    t.is(bytesOf(read[3]).length, 0);
  });

  test('matching expected revisions', async (t) => {
    const stream = aStream();
    t.is((await append(stream, anEvent(), { expectedRevision: ANY })).nextExpectedRevision, 0n);
    t.is((await append(stream, anEvent(), { expectedRevision: 0n })).nextExpectedRevision, 1n);
    t.is((await append(stream, anEvent(), { expectedRevision: STREAM_EXISTS })).nextExpectedRevision, 2n);
    t.is((await append(stream, anEvent(), { expectedRevision: ANY })).nextExpectedRevision, 3n);
  });

  test('mismatched expected revisions', async (t) => {
    const stream = aStream();
    const conflict = { type: 'wrong-expected-version', streamName: stream };
    const none = { ...conflict, actualVersion: NO_STREAM };
    await refused(t, append(stream, anEvent(), { expectedRevision: STREAM_EXISTS }), {
      ...none,
      expectedVersion: STREAM_EXISTS,
    });
    await refused(t, append(stream, anEvent(), { expectedRevision: 1n }), { ...none, expectedVersion: 1n });
    await append(stream, someEvents(3));
    const three = { ...conflict, actualVersion: 2n };
    await refused(t, append(stream, anEvent(), { expectedRevision: NO_STREAM }), {
      ...three,
      expectedVersion: NO_STREAM,
    });
    await refused(t, append(stream, anEvent(), { expectedRevision: 0n }), { ...three, expectedVersion: 0n });
    await refused(t, append(stream, anEvent(), { expectedRevision: 7n }), { ...three, expectedVersion: 7n });
    const last = 2n ** 64n - 1n;
    await refused(t, append(stream, anEvent(), { expectedRevision: last }), {
      ...three,
      expectedVersion: last,
    });
    t.is((await collect(client.readStream(stream))).length, 3);
  });

  test('a repeat at an exact revision gets the first answer again, however old', async (t) => {
    const stream = aStream();
    const events = someEvents(3);
    const first = await append(stream, events, { expectedRevision: NO_STREAM });
    await append(stream, someEvents(2), { expectedRevision: 2n });
    t.deepEqual(await append(stream, events, { expectedRevision: NO_STREAM }), first);
    const [, second = anEvent(), third = anEvent()] = events;
    t.deepEqual(await append(stream, [second, third], { expectedRevision: 0n }), first);
    t.is((await collect(client.readStream(stream))).length, 5);
  });

  test('a repeat with any revision or "stream exists" gets the first answer again', async (t) => {
    const stream = aStream();
    const events = someEvents(2);
    const first = await append(stream, events, { expectedRevision: ANY });
    await append(stream, anEvent());
    t.deepEqual(await append(stream, events, { expectedRevision: ANY }), first);
    t.deepEqual(await append(stream, events, { expectedRevision: STREAM_EXISTS }), first);
    t.is((await collect(client.readStream(stream))).length, 3);
  });

  test('a partial repeat is a conflict', async (t) => {
    const stream = aStream();
    const [one = anEvent(), two = anEvent()] = someEvents(2);
    await append(stream, [one, two]);
    const conflict = { type: 'wrong-expected-version', actualVersion: 1n };
    for (const expectedRevision of [NO_STREAM, ANY, STREAM_EXISTS] as const) {
      await refused(t, append(stream, [one, anEvent()], { expectedRevision }), conflict);
    }
    await refused(t, append(stream, [two, one], { expectedRevision: NO_STREAM }), conflict);
    t.is((await collect(client.readStream(stream))).length, 2);
  });

  test('at the head the same event is appended again; another stream may have it too', async (t) => {
    const [stream, other] = [aStream(), aStream()];
    const event = anEvent();
    await append(stream, event);
    t.is((await append(stream, event, { expectedRevision: 0n })).nextExpectedRevision, 1n);
    t.is((await append(other, event, { expectedRevision: ANY })).nextExpectedRevision, 0n);
  });

  test('an append without events is accepted and changes nothing', async (t) => {
    const stream = aStream();
    t.true((await append(stream, [])).success);
    await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
    await append(stream, someEvents(2));
    t.is((await append(stream, [], { expectedRevision: 1n })).nextExpectedRevision, 1n);
    await refused(t, append(stream, [], { expectedRevision: NO_STREAM }), { type: 'wrong-expected-version' });
  });

  test('an append of more than 1 MiB is refused, a smaller one is not', async (t) => {
    const stream = aStream();
    const overhead = 2 * 'big'.length;
    const big = (bytes: number) => binaryEvent({ type: 'big', data: new Uint8Array(bytes) });
    const tooLarge = { type: 'maximum-append-size-exceeded', maxAppendSize: 1_048_576 };
    await refused(t, append(stream, big(1_048_577 - overhead)), tooLarge);
    await refused(t, append(stream, big(16 * 1024 * 1024)), tooLarge);
    const many = Array.from({ length: 600 }, () => big(2_000));
    await refused(t, append(stream, many), tooLarge);
    await refused(t, append(stream, many, { batchAppendSize: 1024 }), tooLarge);
    t.is(
      (await append(stream, big(1_048_576 - overhead), { expectedRevision: NO_STREAM })).nextExpectedRevision,
      0n,
    );
    const [read] = await collect(client.readStream(stream));
    t.is(bytesOf(read).length, 1_048_576 - overhead);
  });

  test('exactly one of fifty appends at the same revision succeeds', async (t) => {
    const stream = aStream();
    await append(stream, anEvent());
    const attempts = Array.from({ length: 50 }, (_, n) =>
      append(stream, anEvent({ n }), { expectedRevision: 0n }),
    );
    const results = await Promise.allSettled(attempts);
    const won = results.flatMap((result, n) => (result.status === 'fulfilled' ? [n] : []));
    t.is(won.length, 1);
    const events = await collect(client.readStream(stream));
    t.deepEqual<unknown, unknown>(
      events.map(({ event }) => event?.data),
      [{ n: 1 }, { n: won[0] }],
    );
  });

  test('fifty concurrent appends of the same event create one event', async (t) => {
    const stream = aStream();
    const event = anEvent();
    const results = await Promise.all(
      Array.from({ length: 50 }, () => append(stream, event, { expectedRevision: NO_STREAM })),
    );
    t.is(new Set(results.map(({ position }) => position?.commit)).size, 1);
    t.is((await collect(client.readStream(stream))).length, 1);
  });

  test('a missed deadline is an error and appends nothing', async (t) => {
    const stream = aStream();
    await refused(t, append(stream, someEvents(3_000), { deadline: 1 }), { type: 'deadline-exceeded' });
    await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
  });

  test('an event without a valid id, type or stream is refused with a reason', async (t) => {
    const event = jsonEvent({ id: 'not-a-uuid', type: 'tested', data: {} });
    await refused(t, append(aStream(), event), { type: 'unknown' });
    await t.throwsAsync(append(aStream(), event), { message: /'not-a-uuid' is not a UUID/ });
    await t.throwsAsync(append(aStream(), jsonEvent({ type: '', data: {} })), {
      message: /needs the metadata "type"/,
    });
    await t.throwsAsync(append('x'.repeat(20_000), anEvent()), { message: /at most 16384 characters/ });
    await t.throwsAsync(append('', anEvent()), { message: /stream name is required/ });
  });

  test('stream metadata is not offered', async (t) => {
    const stream = aStream();
    await append(stream, anEvent());
    await t.throwsAsync(append(`$$${stream}`, anEvent()), { message: /metadata is not offered/ });
  });
}

ava('an append in many chunks is one append', async (t) => {
  const stream = aStream();
  const { nextExpectedRevision } = await client.appendToStream(stream, someEvents(2_000), {
    batchAppendSize: 1024,
  });
  t.is(nextExpectedRevision, 1_999n);
  const read = (await collect(client.readStream(stream))).map(({ event }) => event?.data);
  t.deepEqual<unknown, unknown>(
    read,
    Array.from({ length: 2_000 }, (_, n) => ({ n })),
  );
});

ava('many appends at once to many streams are all there, at rising positions', async (t) => {
  const streams = Array.from({ length: 300 }, () => aStream('many'));
  const results = await Promise.all(streams.map((stream) => client.appendToStream(stream, someEvents(2))));
  const positions = new Set(results.map(({ position }) => position?.commit));
  t.is(positions.size, 300);
  for (const [index, stream] of streams.entries()) {
    const events = await collect(client.readStream(stream));
    t.deepEqual(events.at(-1)?.event?.position, results[index]?.position);
  }
});
