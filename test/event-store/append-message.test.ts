/** The messages of appends, which are written and read by hand, beside the official client's generated classes. */
import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statusMessages from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import { encodeAppend, readAnswer, requestOf } from '@ledger/event-store/append-message.ts';
import {
  AppendRefused,
  EventStoreFull,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from '@ledger/event-store/event-store.ts';
import test from 'ava';
import fc from 'fast-check';
import anyMessages from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { anyText } from '../support/any-text.ts';

const text = anyText({ minLength: 1, maxLength: 40 });
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 300n }));
const uuid = (id: string) => {
  const message = new shared.UUID();
  message.setString(id);
  return message;
};

test('an append is read by the official classes', (t) => {
  const events = fc.array(
    fc.record({ id: fc.uuid(), type: text, data: fc.jsonValue(), metadata: fc.jsonValue() }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  const expectedRevision = fc.oneof(fc.constant('no_stream' as const), fc.maxSafeNat());
  fc.assert(
    fc.property(text, expectedRevision, events, (streamName, expected, given) => {
      const id = randomUUID();
      const bytes = requestOf(id, encodeAppend({ streamName, events: given, expected }, 2_500));
      const request = streams.BatchAppendReq.deserializeBinary(bytes);
      const options = request.getOptions();
      t.is(request.getCorrelationId()?.getString(), id);
      t.true(request.getIsFinal());
      t.is(
        Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
        Buffer.from(streamName).toString(),
      );
      t.is(options?.hasNoStream(), expected === 'no_stream');
      if (expected !== 'no_stream') t.is(options?.getStreamPosition(), String(expected));
      t.deepEqual(
        request.getProposedMessagesList().map((message) => ({
          id: message.getId()?.getString(),
          type: message.getMetadataMap().get('type'),
          data: Buffer.from(message.getData_asU8()).toString(),
          metadata: Buffer.from(message.getCustomMetadata_asU8()).toString(),
        })),
        given.map(({ data, metadata, ...each }) => ({
          ...each,
          type: Buffer.from(each.type).toString(),
          data: Buffer.from(JSON.stringify(data)).toString(),
          metadata: Buffer.from(JSON.stringify(metadata)).toString(),
        })),
      );
    }),
  );
});

const append = { streamName: 'payment-1', events: [], expected: 3 };

function answerWith(fill: (answer: streams.BatchAppendResp) => void) {
  const answer = new streams.BatchAppendResp();
  answer.setCorrelationId(uuid('00000000-0000-4000-8000-000000000001'));
  fill(answer);
  const { correlationId, read } = readAnswer(Buffer.from(answer.serializeBinary()));
  return { correlationId, read: () => read(append) };
}

test('a confirmation is read from what the official classes write', (t) => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.option(fc.tuple(uint64, uint64)), (revision, place) => {
      const success = new streams.BatchAppendResp.Success();
      success.setCurrentRevision(String(revision));
      const position = new shared.AllStreamPosition();
      if (place) {
        position.setCommitPosition(String(place[0]));
        position.setPreparePosition(String(place[1]));
        success.setPosition(position);
      } else success.setNoPosition(new empty.Empty());
      const { correlationId, read } = answerWith((answer) => answer.setSuccess(success));
      t.is(correlationId, '00000000-0000-4000-8000-000000000001');
      t.deepEqual(read(), { revision, position: place && { commit: place[0], prepare: place[1] } });
    }),
  );
});

test('why an append is not stored is read from what the official classes write', (t) => {
  const error = (code: number, name: string, details: { serializeBinary(): Uint8Array }) => {
    const any = new anyMessages.Any();
    any.pack(details.serializeBinary(), name);
    const message = new statusMessages.Status();
    message.setCode(code);
    message.setMessage('because');
    message.setDetails(any);
    return answerWith((answer) => answer.setError(message)).read;
  };
  const wrong = new shared.WrongExpectedVersion();
  wrong.setCurrentStreamRevision('5');
  const read = error(status.ALREADY_EXISTS, 'event_store.client.WrongExpectedVersion', wrong);
  t.throws(read, { instanceOf: WrongExpectedRevision, message: /is at 5, not at 3/ });
  wrong.setCurrentNoStream(new empty.Empty());
  t.throws(error(status.ALREADY_EXISTS, 'event_store.client.WrongExpectedVersion', wrong), {
    instanceOf: WrongExpectedRevision,
    message: /is at no_stream, not at 3/,
  });
  for (const name of ['AccessDenied', 'StreamDeleted', 'MaximumAppendSizeExceeded'])
    t.throws(error(status.PERMISSION_DENIED, `event_store.client.${name}`, new empty.Empty()), {
      instanceOf: AppendRefused,
      message: new RegExp(`payment-1: ${name} because`),
    });
  t.throws(error(status.RESOURCE_EXHAUSTED, 'event_store.client.BadRequest', new empty.Empty()), {
    instanceOf: EventStoreFull,
  });
  for (const name of ['event_store.client.Timeout', 'google.protobuf.Empty'])
    t.throws(error(status.DEADLINE_EXCEEDED, name, new empty.Empty()), { instanceOf: EventStoreUnavailable });
  t.throws(answerWith(() => {}).read, { instanceOf: EventStoreUnavailable });
});

test('any bytes are an answer or refused', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        readAnswer(Buffer.from(bytes)).read(append);
      } catch (error) {
        t.true(error instanceof Error);
        return;
      }
      t.pass();
    }),
    { numRuns: 1_000 },
  );
});
