// The embedded event store refuses what it does not offer, and invalid requests do no harm.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { persistentSubscriptionToStreamSettingsFromDefaults } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, status } from '@grpc/grpc-js';
import { encode, field, number } from '@ledger/kernel/write-protobuf.ts';
import test, { type ExecutionContext } from 'ava';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { streamsService } from '../../../packages/embedded/eventstore/wire.ts';
import { anEvent, aStream, collect, type Store, withStore } from './harness.ts';

let store: Store;
let client: Store['client'];
let raw: StreamsClient;
test.before(async () => {
  store = await withStore();
  client = store.client;
  raw = new StreamsClient(`127.0.0.1:${store.port}`, credentials.createInsecure());
});
test.after.always(async () => {
  raw.close();
  await store.close();
});

const byGrpc = /does not implement the method/;

async function unimplemented(t: ExecutionContext, call: Promise<unknown>, why = byGrpc): Promise<void> {
  const error = await t.throwsAsync<Error & { code?: number }>(call);
  t.is(error?.code, status.UNIMPLEMENTED);
  t.regex(error?.message ?? '', why);
}

test('nothing can be deleted', async (t) => {
  const stream = aStream();
  await client.appendToStream(stream, anEvent());
  await unimplemented(t, client.deleteStream(stream), /deletes nothing/);
  await unimplemented(t, client.tombstoneStream(stream), /deletes nothing/);
  t.is((await collect(client.readStream(stream))).length, 1);
});

test('no persistent subscriptions, no projections', async (t) => {
  const settings = persistentSubscriptionToStreamSettingsFromDefaults();
  await unimplemented(t, client.createPersistentSubscriptionToStream(aStream(), 'group', settings));
  await unimplemented(t, collect(client.subscribeToPersistentSubscriptionToStream(aStream(), 'group')));
  await unimplemented(t, client.createProjection('p', 'fromAll()'));
});

type ChunkOptions = { id?: string; isFinal?: boolean; events?: number; stream?: string; deadlineMs?: number };

/** A chunk of a batch append; it has options if it names a stream. */
function chunk({ id = randomUUID(), isFinal = false, events = 0, stream, deadlineMs }: ChunkOptions) {
  const message = new streams.BatchAppendReq();
  message.setCorrelationId(uuid(id));
  message.setIsFinal(isFinal);
  if (stream !== undefined) {
    const options = new streams.BatchAppendReq.Options();
    options.setStreamIdentifier(identifier(stream));
    options.setAny(new empty.Empty());
    if (deadlineMs) options.setDeadline(timestamp.Timestamp.fromDate(new Date(deadlineMs)));
    message.setOptions(options);
  }
  for (let n = 0; n < events; n += 1) {
    message.addProposedMessages(proposed(new streams.BatchAppendReq.ProposedMessage()));
  }
  return message;
}

function proposed<M extends streams.AppendReq.ProposedMessage | streams.BatchAppendReq.ProposedMessage>(
  message: M,
): M {
  message.setId(uuid(randomUUID()));
  message.getMetadataMap().set('type', 'tested').set('content-type', 'application/json');
  message.setData(Buffer.from('{}'));
  return message;
}

function appendOptions(stream: string): streams.AppendReq.Options {
  const options = new streams.AppendReq.Options();
  options.setStreamIdentifier(identifier(stream));
  options.setAny(new shared.Empty());
  return options;
}

function identifier(stream: string): shared.StreamIdentifier {
  const message = new shared.StreamIdentifier();
  message.setStreamName(Buffer.from(stream));
  return message;
}

function uuid(text: string): shared.UUID {
  const message = new shared.UUID();
  message.setString(text);
  return message;
}

/** Sends the chunks in one call and returns all answers as text. */
async function batch(chunks: streams.BatchAppendReq[]): Promise<string[]> {
  const call = raw.batchAppend();
  const answers: string[] = [];
  call.on('data', (response: streams.BatchAppendResp) => {
    answers.push(response.getError()?.getMessage() ?? 'appended');
  });
  const ended = once(call, 'end');
  for (const message of chunks) call.write(message);
  call.end();
  await ended;
  return answers;
}

test('an append is answered once, whatever its chunks contain', async (t) => {
  const stream = aStream();
  const [id, other] = [randomUUID(), randomUUID()];
  t.deepEqual(await batch([chunk({ id, stream, events: 1 }), chunk({ id, isFinal: true, events: 1 })]), [
    'appended',
  ]);
  t.deepEqual(await batch([chunk({ isFinal: true, events: 1 })]), ['An append must begin with its options']);
  t.deepEqual(await batch([chunk({ id }), chunk({ id }), chunk({ id, isFinal: true })]), [
    'An append must begin with its options',
  ]);
  t.deepEqual(await batch([chunk({ id, stream, events: 1 })]), ['The append ended before its last chunk']);
  const mixed = [
    chunk({ id, stream, events: 1 }),
    chunk({ id: other, stream, events: 1, isFinal: true }),
    chunk({ id, events: 1, isFinal: true }),
  ];
  t.deepEqual(await batch(mixed), ['appended', 'appended']);
  t.is((await collect(client.readStream(stream))).length, 5);
});

test('an append that is incomplete at its deadline is refused then, and its last chunk is ignored', async (t) => {
  const stream = aStream();
  const id = randomUUID();
  const call = raw.batchAppend();
  const answers: streams.BatchAppendResp[] = [];
  call.on('data', (response: streams.BatchAppendResp) => answers.push(response));
  call.write(chunk({ id, stream, events: 1, deadlineMs: Date.now() + 100 }));
  await once(call, 'data');
  t.is(answers[0]?.getError()?.getDetails()?.getTypeName(), 'event_store.client.Timeout');
  call.write(chunk({ id, events: 1, isFinal: true }));
  call.end();
  await once(call, 'end');
  t.is(answers.length, 1);
  await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
});

test('a deadline may be a duration, as the ledger itself sends it', async (t) => {
  const asItIs = (bytes: Buffer) => bytes;
  const call = raw.makeBidiStreamRequest(streamsService.batchAppend.path, asItIs, asItIs);
  const aSecond = field(7, number(1, 1));
  const options = field(2, field(1, field(3, aStream())), field(4), aSecond);
  call.write(encode(field(1, field(2, randomUUID())), options));
  const [answer] = await once(call, 'data');
  t.regex(String(answer), /event_store\.client\.Timeout/);
  call.end();
  await once(call, 'end');
});

test('a chunk without a correlation id fails the call, and the store continues', async (t) => {
  await t.throwsAsync(batch([chunk({ id: 'nobody', stream: aStream(), isFinal: true })]), {
    message: /is not a UUID/,
  });
  await t.throwsAsync(batch([new streams.BatchAppendReq()]), { message: /is not a UUID/ });
  t.true((await client.appendToStream(aStream(), anEvent())).success);
});

test('an append or a read without options', async (t) => {
  const append = (messages: streams.AppendReq[]) =>
    new Promise((resolve, reject) => {
      const call = raw.append((error, response) => (error ? reject(error) : resolve(response)));
      for (const message of messages) call.write(message);
      call.end();
    });
  await t.throwsAsync(append([]), { message: /must begin with its options/ });
  await t.throwsAsync(append([new streams.AppendReq()]), { message: /must begin with its options/ });
  await t.throwsAsync(collect(raw.read(new streams.ReadReq())), { message: /A read needs options/ });
});

test('half an append is not committed when the connection breaks', async (t) => {
  const stream = aStream();
  const sockets: Socket[] = [];
  const proxy = createServer((socket) => {
    const onwards = createConnection(store.port, '127.0.0.1');
    sockets.push(socket, onwards);
    for (const one of sockets) one.on('error', () => undefined);
    socket.pipe(onwards).pipe(socket);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const connected = once(proxy, 'connection');
  const { port } = proxy.address() as AddressInfo;
  const caller = new StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const broken = new Promise((resolve) => {
    const call = caller.append(resolve);
    const options = new streams.AppendReq();
    options.setOptions(appendOptions(stream));
    call.write(options);
    for (let n = 0; n < 3; n += 1) {
      const event = new streams.AppendReq();
      event.setProposedMessage(proposed(new streams.AppendReq.ProposedMessage()));
      call.write(event);
    }
  });
  await connected;
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const socket of sockets) socket.destroy();
  t.truthy(await broken);
  await client.appendToStream(aStream(), anEvent());
  await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
  caller.close();
  proxy.close();
});

test('a caller that disappears with open batches leaves nothing behind', async (t) => {
  const stream = aStream();
  const call = raw.batchAppend();
  call.on('error', () => undefined);
  call.write(chunk({ stream, events: 1, deadlineMs: Date.now() + 50 }));
  const answered = batch([chunk({ stream: aStream(), events: 1, isFinal: true })]);
  call.cancel();
  t.deepEqual(await answered, ['appended']);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
});

test.serial(
  'an append of too many events is refused; a call with too many incomplete appends ends',
  async (t) => {
    const [stream, id] = [aStream(), randomUUID()];
    const many = [chunk({ id, stream, events: 9_999 }), chunk({ id, isFinal: true, events: 2 })];
    t.deepEqual(await batch(many), ['An append holds at most 10000 events']);
    await t.throwsAsync(batch(Array.from({ length: 65 }, () => chunk({ stream, events: 1 }))), {
      message: /At most 64 appends of a call may be incomplete/,
    });
    await t.throwsAsync(collect(client.readStream(stream)), { message: /not found/ });
  },
);

test.serial('a caller with more appends than are kept waiting gets all its answers', async (t) => {
  const stream = aStream();
  const large = Array.from({ length: 20 }, () => {
    const message = chunk({ stream, events: 1, isFinal: true });
    message.getProposedMessagesList()[0]?.setData(new Uint8Array(1_000_000));
    return message;
  });
  const answers = await batch(large);
  t.deepEqual([answers.length, new Set(answers)], [20, new Set(['appended'])]);
});
