// The embedded event store's own reading and writing of protobuf, beside the official client's generated classes; and
// that no bytes from a caller end it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import {
  bytesIn,
  has,
  type Message,
  messageIn,
  messagesIn,
  numberIn,
  parse,
  textIn,
  textsIn,
} from '@ledger/kernel/read-protobuf.ts';
import test from 'ava';
import fc from 'fast-check';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { encodeEvent } from '../../../packages/embedded/eventstore/encode.ts';
import { parseProposedEvent, streamsService } from '../../../packages/embedded/eventstore/wire.ts';
import { anyText } from '../../support/any-text.ts';
import { anEvent, aStream, collect, type Store, withStore } from './harness.ts';

let store: Store;
let raw: Client;
test.before(async () => {
  store = await withStore();
  raw = new Client(`127.0.0.1:${store.port}`, credentials.createInsecure());
});
test.after.always(async () => {
  raw.close();
  await store.close();
});

const bytes = (maxLength = 300) => fc.uint8Array({ maxLength });
const text = anyText({ minLength: 1, maxLength: 40 });
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 300n }));
const json = 'application/json' as const;
const event = fc.record({
  id: fc.uuid(),
  type: text,
  contentType: fc.constantFrom(json, 'application/octet-stream' as const),
  data: bytes(),
  metadata: bytes(),
});
const plain = (value: Uint8Array) => Uint8Array.from(value);

const uuid = (id: string) => {
  const message = new shared.UUID();
  message.setString(id);
  return message;
};
const identifier = (stream: string) => {
  const message = new shared.StreamIdentifier();
  message.setStreamName(Buffer.from(stream));
  return message;
};

test('what the official classes write is read alike', (t) => {
  const proposal = fc.record({ stream: text, position: uint64, seconds: uint64, isFinal: fc.boolean() });
  fc.assert(
    fc.property(proposal, fc.array(event, { maxLength: 3 }), (proposed, events) => {
      const options = new streams.BatchAppendReq.Options();
      options.setStreamIdentifier(identifier(proposed.stream));
      options.setStreamPosition(String(proposed.position));
      const deadline = new timestamp.Timestamp();
      deadline.setSeconds(Number(proposed.seconds % 2n ** 40n));
      options.setDeadline(deadline);
      const correlationId = randomUUID();
      const request = new streams.BatchAppendReq();
      request.setCorrelationId(uuid(correlationId));
      request.setOptions(options);
      request.setIsFinal(proposed.isFinal);
      for (const { id, type, contentType, data, metadata } of events) {
        const message = new streams.BatchAppendReq.ProposedMessage();
        message.setId(uuid(id));
        message.getMetadataMap().set('content-type', contentType).set('type', type);
        message.setData(data);
        message.setCustomMetadata(metadata);
        request.addProposedMessages(message);
      }
      const read = parse(Buffer.from(request.serializeBinary()));
      const readOptions = messageIn(read, 2) ?? parse(Buffer.of());
      t.is(textIn(messageIn(read, 1), 2), correlationId);
      t.is(textIn(messageIn(readOptions, 1), 3), Buffer.from(proposed.stream).toString());
      t.is(BigInt(numberIn(readOptions, 2)), proposed.position);
      t.is(Number(numberIn(messageIn(readOptions, 6) ?? readOptions, 1)), deadline.getSeconds());
      t.is(numberIn(read, 4), proposed.isFinal ? 1 : 0);
      const readEvents = messagesIn(read, 3).map(parseProposedEvent);
      t.deepEqual(
        readEvents.map((each) => ({ ...each, data: plain(each.data), metadata: plain(each.metadata) })),
        events.map((each) => ({ ...each, type: Buffer.from(each.type).toString() })),
      );
    }),
  );
});

test('what is written of an event is read by the official classes', (t) => {
  const place = fc.record({
    stream: text,
    revision: fc.maxSafeNat(),
    position: fc.maxSafeNat(),
    created: fc.date({ min: new Date(0), max: new Date('2500-01-01'), noInvalidDate: true }),
  });
  fc.assert(
    fc.property(event, place, (proposed, at) => {
      const read = streams.ReadResp.deserializeBinary(encodeEvent(proposed, at)).getEvent();
      const recorded = read?.getEvent();
      t.is(recorded?.getId()?.getString(), proposed.id);
      t.deepEqual(recorded && plain(recorded.getData_asU8()), proposed.data);
      t.deepEqual(recorded && plain(recorded.getCustomMetadata_asU8()), proposed.metadata);
      t.is(recorded?.getStreamRevision(), String(at.revision));
      for (const position of [recorded?.getCommitPosition(), recorded?.getPreparePosition()])
        t.is(position, String(at.position));
      t.is(read?.getCommitPosition(), String(at.position));
      const name = recorded?.getStreamIdentifier()?.getStreamName_asU8() ?? [];
      t.is(Buffer.from(name).toString(), Buffer.from(at.stream).toString());
      const properties = recorded?.getMetadataMap();
      t.is(properties?.get('type'), Buffer.from(proposed.type).toString());
      t.is(properties?.get('content-type'), proposed.contentType);
      t.is(properties?.get('created'), `${at.created.getTime()}0000`);
    }),
  );
});

test('an answer to an append says what the official classes expect of it', async (t) => {
  const stream = aStream('größe');
  const expectations = [
    { set: (options: streams.BatchAppendReq.Options) => options.setAny(new empty.Empty()), is: 'hasAny' },
    {
      set: (options: streams.BatchAppendReq.Options) => options.setStreamPosition('0'),
      is: 'hasStreamPosition',
    },
    {
      set: (options: streams.BatchAppendReq.Options) => options.setStreamExists(new empty.Empty()),
      is: 'hasStreamExists',
    },
    {
      set: (options: streams.BatchAppendReq.Options) => options.setNoStream(new empty.Empty()),
      is: 'hasNoStream',
    },
    {
      set: (options: streams.BatchAppendReq.Options) => options.setStreamPosition(String(2n ** 64n - 1n)),
      is: 'hasStreamPosition',
    },
  ] as const;
  const answers: streams.BatchAppendResp[] = [];
  const ids: string[] = [];
  for (const { set, is } of expectations) {
    const options = new streams.BatchAppendReq.Options();
    options.setStreamIdentifier(identifier(stream));
    set(options);
    const request = new streams.BatchAppendReq();
    request.setCorrelationId(uuid(randomUUID()));
    request.setOptions(options);
    request.setIsFinal(true);
    const message = new streams.BatchAppendReq.ProposedMessage();
    message.setId(uuid(randomUUID()));
    message.getMetadataMap().set('content-type', json).set('type', 'tested');
    request.addProposedMessages(message);
    const [answer = Buffer.of()] = await send(
      streamsService.batchAppend.path,
      Buffer.from(request.serializeBinary()),
    );
    const response = streams.BatchAppendResp.deserializeBinary(answer);
    t.true(response[is](), is);
    t.is(Buffer.from(response.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(), stream);
    ids.push(request.getCorrelationId()?.getString() ?? '');
    answers.push(response);
  }
  t.deepEqual(
    answers.map((answer) => answer.getCorrelationId()?.getString()),
    ids,
  );
  const events = await collect(store.client.readStream(stream));
  t.deepEqual(
    answers.slice(0, 3).map((answer) => answer.getSuccess()?.getPosition()?.getCommitPosition()),
    events.map(({ event: stored }) => String(stored?.position?.commit)),
  );
  t.deepEqual(
    answers.slice(0, 3).map((answer) => answer.getSuccess()?.getCurrentRevision()),
    ['0', '1', '2'],
  );
  for (const answer of answers.slice(3)) {
    t.false(answer.hasSuccess());
    t.is(answer.getError()?.getDetails()?.getTypeName(), 'event_store.client.WrongExpectedVersion');
  }
});

// The official client appends with BatchAppend only if it is told of it.
test('the methods are named as the official client looks for them', async (t) => {
  const [answer = Buffer.of()] = await send(
    features.ServerFeaturesService.getSupportedMethods.path,
    Buffer.of(),
  );
  const named = featureMessages.SupportedMethods.deserializeBinary(answer).getMethodsList();
  const expected = [streamsService.read, streamsService.append, streamsService.batchAppend];
  t.deepEqual(
    named.map((each) => `/${each.getServiceName()}/${each.getMethodName()}`),
    expected.map(({ path }) => path.toLowerCase()),
  );
});

/** Everything that can be asked of a message, at any depth. */
function readAll(message: Message, depth = 0): void {
  for (let field = 0; field < 40; field += 1) {
    has(message, field);
    numberIn(message, field);
    bytesIn(message, field);
    textsIn(message, field);
    if (depth < 3) for (const each of messagesIn(message, field)) readAll(each, depth + 1);
  }
}

test('any bytes are read or refused', (t) => {
  fc.assert(
    fc.property(bytes(60), (given) => {
      try {
        readAll(parse(Buffer.from(given)));
      } catch (error) {
        t.true(error instanceof RangeError, String(error));
      }
    }),
    { numRuns: 2_000 },
  );
  const numberTooLong = Buffer.from([8, ...Array(10).fill(255), 1]);
  const cutOff = [Buffer.from([8]), Buffer.from([10, 5, 1]), Buffer.from([9, 1, 2]), Buffer.from([255])];
  const unknownType = Buffer.from([11]);
  // As a floating-point number this key is 2^64, and looks like one of type 0.
  const keyTooLarge = Buffer.from([...Array(9).fill(255), 1, 0]);
  const fieldTooLarge = Buffer.from([128, 128, 128, 128, 16, 0]);
  const noField = Buffer.from([0, 0]);
  for (const given of [numberTooLong, ...cutOff, unknownType, keyTooLarge, fieldTooLarge, noField])
    t.throws(() => parse(given), { instanceOf: RangeError }, given.toString('hex'));
});

/** The answers to one request; rejects with the status of a call that failed. */
async function send(path: string, request: Buffer, deadlineMs = 60_000): Promise<Buffer[]> {
  const asItIs = (message: Buffer) => message;
  const call = raw.makeBidiStreamRequest(path, asItIs, asItIs, { deadline: Date.now() + deadlineMs });
  const answers: Buffer[] = [];
  call.on('data', (answer: Buffer) => answers.push(answer));
  const ended = once(call, 'end');
  call.end(request);
  await ended;
  return answers;
}

test('no request ends the store, and what cannot be read is refused', async (t) => {
  const options = new streams.AppendReq.Options();
  options.setStreamIdentifier(identifier(aStream()));
  const request = new streams.AppendReq();
  request.setOptions(options);
  const valid = Buffer.from(request.serializeBinary());
  const given = fc.oneof(
    bytes(40),
    fc.nat(valid.length).map((length) => valid.subarray(0, length)),
    fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([place, byte]) => {
      const changed = Buffer.from(valid);
      changed[place] = byte;
      return changed;
    }),
  );
  const { read, append, batchAppend } = streamsService;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(read, append, batchAppend), given, async ({ path }, body) => {
      // By chance it may be a subscription, which has no end.
      await send(path, Buffer.from(body), 500).catch(() => {});
    }),
    { numRuns: 200 },
  );
  for (const { path } of [read, append, batchAppend]) {
    const error = await t.throwsAsync<ServiceError>(send(path, Buffer.from([10, 200])));
    t.is(error?.code, status.INTERNAL);
  }
  t.true((await store.client.appendToStream(aStream(), anEvent())).success);
});
