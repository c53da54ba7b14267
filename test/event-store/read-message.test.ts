/** The messages of reads, which are written and read by hand, beside what the official client writes and reads. */
import { randomUUID } from 'node:crypto';
import {
  END,
  EventStoreDBClient,
  eventTypeFilter,
  type RecordedEvent as OfficialEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { convertGrpcEvent } from '@eventstore/db-client/dist/utils/convertGrpcEvent.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  decodeReadMessage,
  readAllRequest,
  readStreamRequest,
  subscribeRequest,
} from '@ledger/event-store/read-message.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';

const text = anyText({ minLength: 1, maxLength: 40 });
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 300n }));
const someBytes = fc.uint8Array({ maxLength: 100 });
const content = fc.oneof(
  fc.json().map((json) => Uint8Array.from(Buffer.from(json))),
  someBytes,
  fc.constant(new Uint8Array()),
);
const recorded = fc.record({
  id: fc.uuid(),
  stream: text,
  revision: uint64,
  prepare: uint64,
  commit: uint64,
  type: text,
  contentType: fc.constantFrom('application/json', 'application/octet-stream', 'text/plain', undefined),
  ticks: fc.bigInt({ min: 0n, max: 10n ** 17n }),
  data: content,
  metadata: content,
});
type Recorded = typeof recorded extends fc.Arbitrary<infer T> ? T : never;

const uuid = (id: string) => {
  const message = new shared.UUID();
  message.setString(id);
  return message;
};

function messageOf(given: Recorded): streams.ReadResp.ReadEvent.RecordedEvent {
  const message = new streams.ReadResp.ReadEvent.RecordedEvent();
  const stream = new shared.StreamIdentifier();
  stream.setStreamName(Buffer.from(given.stream));
  message.setId(uuid(given.id));
  message.setStreamIdentifier(stream);
  message.setStreamRevision(String(given.revision));
  message.setPreparePosition(String(given.prepare));
  message.setCommitPosition(String(given.commit));
  const properties = message.getMetadataMap().set('created', String(given.ticks)).set('type', given.type);
  if (given.contentType !== undefined) properties.set('content-type', given.contentType);
  message.setData(given.data);
  message.setCustomMetadata(given.metadata);
  return message;
}

const plain = (value: unknown) => (value instanceof Uint8Array ? Uint8Array.from(value) : value);

test('an event is read as the official client reads it, with or without a link', (t) => {
  fc.assert(
    fc.property(recorded, fc.option(recorded), (given, link) => {
      const read = new streams.ReadResp.ReadEvent();
      read.setEvent(messageOf(given));
      if (link) read.setLink(messageOf(link));
      read.setCommitPosition(String(given.commit));
      const response = new streams.ReadResp();
      response.setEvent(read);
      const bytes = Buffer.from(response.serializeBinary());
      const { event } = convertGrpcEvent(streams.ReadResp.deserializeBinary(bytes).getEvent() ?? read);
      const official = event as OfficialEvent;
      const ours = decodeReadMessage(bytes);
      if (ours.kind !== 'event' || !ours.event) return t.fail(ours.kind);
      t.deepEqual(
        { ...ours.event, data: plain(ours.event.data), metadata: plain(ours.event.metadata) },
        {
          id: official.id,
          type: official.type,
          data: plain(official.data),
          metadata: plain(official.metadata),
          streamName: official.streamId,
          revision: Number(official.revision),
          position: official.position ?? { commit: -1n, prepare: -1n },
          created: official.created,
        },
      );
    }),
  );
});

test('what else a read may bring', (t) => {
  const response = (fill: (message: streams.ReadResp) => void) => {
    const message = new streams.ReadResp();
    fill(message);
    return decodeReadMessage(Buffer.from(message.serializeBinary()));
  };
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition('18446744073709551615');
  checkpoint.setPreparePosition('7');
  t.deepEqual(
    response((message) => message.setCheckpoint(checkpoint)),
    { kind: 'checkpoint', position: { commit: 18446744073709551615n, prepare: 7n } },
  );
  t.is(response((message) => message.setCaughtUp(new streams.ReadResp.CaughtUp())).kind, 'caught_up');
  t.deepEqual(
    response((message) => message.setEvent(new streams.ReadResp.ReadEvent())),
    { kind: 'event', event: null },
  );
  const others = [
    (message: streams.ReadResp) => message.setConfirmation(new streams.ReadResp.SubscriptionConfirmation()),
    (message: streams.ReadResp) => message.setStreamNotFound(new streams.ReadResp.StreamNotFound()),
    (message: streams.ReadResp) => message.setFellBehind(new streams.ReadResp.FellBehind()),
    (message: streams.ReadResp) => message.setFirstStreamPosition('3'),
    () => {},
  ];
  for (const fill of others) t.is(response(fill).kind, 'other');
});

test('any bytes are a message or refused', (t) => {
  const given = {
    id: randomUUID(),
    stream: 's',
    type: 't',
    contentType: 'application/json',
    ticks: 1n,
  } as const;
  const numbers = { revision: 1n, prepare: 2n, commit: 3n, data: Buffer.from('{}'), metadata: Buffer.of() };
  const read = new streams.ReadResp.ReadEvent();
  read.setEvent(messageOf({ ...given, ...numbers }));
  const response = new streams.ReadResp();
  response.setEvent(read);
  const valid = Buffer.from(response.serializeBinary());
  const cut = fc.nat(valid.length).map((length) => valid.subarray(0, length));
  fc.assert(
    fc.property(fc.oneof(someBytes, cut), (bytes) => {
      try {
        t.truthy(decodeReadMessage(Buffer.from(bytes)));
      } catch (error) {
        t.true(error instanceof Error);
      }
    }),
    { numRuns: 1_000 },
  );
  for (let length = 1; length < valid.length; length += 1)
    t.throws(() => decodeReadMessage(valid.subarray(0, length)), undefined, `${length} bytes`);
});

/** What the official client would send. */
async function requestBy(
  call: (client: EventStoreDBClient) => { on(event: 'error', heard: () => void): unknown },
) {
  const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
  const { promise, resolve } = Promise.withResolvers<streams.ReadReq>();
  const GRPCStreamCreator = (_: unknown, __: string, create: (grpc: unknown) => unknown) => async () => {
    create({ read: resolve });
    throw new Error('Nothing is connected');
  };
  call(Object.assign(client, { GRPCStreamCreator })).on('error', () => {});
  return (await promise).toObject();
}

async function isSame(t: ExecutionContext, ours: Buffer, by: Parameters<typeof requestBy>[0]) {
  t.deepEqual(streams.ReadReq.deserializeBinary(ours).toObject(), await requestBy(by));
}

test('a read is asked for as the official client asks for it', async (t) => {
  for (const direction of ['forwards', 'backwards'] as const)
    for (const fromRevision of [0, 5, Number.MAX_SAFE_INTEGER, 'end'] as const) {
      const slice = { direction, fromRevision, maxCount: 1_000 };
      await isSame(t, readStreamRequest('größe-1', slice), (client) =>
        client.readStream('größe-1', {
          ...slice,
          fromRevision: fromRevision === 'end' ? END : BigInt(fromRevision),
        }),
      );
    }
  const position = { commit: 2n ** 52n, prepare: 77n };
  await isSame(t, readAllRequest(position), (client) =>
    client.readAll({ direction: 'forwards', fromPosition: position, maxCount: 1 }),
  );
  await isSame(t, readAllRequest('end'), (client) =>
    client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 }),
  );
});

test('a subscription is asked for as the official client asks for it', async (t) => {
  const checkpointInterval = 16;
  for (const after of [null, { commit: 0n, prepare: 0n }, { commit: 2n ** 52n, prepare: 7n }]) {
    const prefixes = ['payment-', '', 'größe-'];
    await isSame(t, subscribeRequest({ streamPrefixes: prefixes }, after, checkpointInterval), (client) =>
      client.subscribeToAll({
        fromPosition: after ?? START,
        filter: streamNameFilter({ prefixes, checkpointInterval }),
      }),
    );
    const eventTypes = ['Paid', 'Failed'];
    await isSame(t, subscribeRequest({ eventTypes }, after, checkpointInterval), (client) =>
      client.subscribeToAll({
        fromPosition: after ?? START,
        filter: eventTypeFilter({ regex: '^(Paid|Failed)$', checkpointInterval }),
      }),
    );
  }
});
