// Whether the event store lets a role in: told before it starts, without an event that is stored.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { createReads } from '@ledger/embedded/eventstore/read.ts';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { openStorage } from '@ledger/embedded/eventstore/storage.ts';
import { errorStatus, streamsService } from '@ledger/embedded/eventstore/wire.ts';
import { EventStoreFull, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { refusal } from '@ledger/event-store/requirements.ts';
import { bytesIn, type Message } from '@ledger/kernel/read-protobuf.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { encode, field } from '@ledger/kernel/write-protobuf.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test, { type ExecutionContext } from 'ava';
import { assertStores } from '../../src/roles/stores.ts';
import { spawnStore } from '../embedded/eventstore/harness.ts';
import { temporaryFolder } from '../embedded/helpers.ts';
import { open, startServer } from './helpers.ts';

const probed = 'payment-write-access';
const urlAt = (port: number, user = '') => `esdb://${user}127.0.0.1:${port}?tls=false`;

test('a store that lets us in refuses nothing, nothing is stored, and one that does not answer is told from it', async (t) => {
  const { port } = await startServer(t);
  const { head, load } = open(t, port);
  const before = await head();
  t.is(await refusal(urlAt(port), systemRuntime, probed), null);
  t.deepEqual(await load(probed), []);
  t.deepEqual(await head(), before);
  await t.throwsAsync(refusal(urlAt(9), systemRuntime, probed), { instanceOf: EventStoreUnavailable });
});

test('a wrong password is named', async (t) => {
  const store = await startEventStore({ file: ':memory:', host: '127.0.0.1', port: 0, password: 'right' });
  t.teardown(store.close);
  t.is(await refusal(urlAt(store.port, 'ledger:wrong@'), systemRuntime, probed), 'credentials');
  t.is(await refusal(urlAt(store.port, 'ledger:right@'), systemRuntime, probed), null);
});

test('a full disk is told to whoever asks, not only to those whose appends found no room', async (t) => {
  // What its files may grow to stands for the disk.
  const store = await spawnStore(join(await temporaryFolder(t), 'events.db'), { blocks: 1_000 });
  t.teardown(() => store.stop('SIGKILL'));
  const esdbUrl = urlAt(store.port);
  const { append } = open(t, store.port);
  t.is(await refusal(esdbUrl, systemRuntime, probed), null);
  const fill = async () => {
    for (;;)
      await append(
        `payment-${randomUUID()}`,
        [{ id: randomUUID(), type: 'Filler', data: 'x'.repeat(300_000), metadata: {} }],
        'no_stream',
      );
  };
  await t.throwsAsync(fill, { instanceOf: EventStoreFull });
  t.is(await refusal(esdbUrl, systemRuntime, probed), 'room');
  t.is(await refusal(esdbUrl, systemRuntime, null), null, 'a command that only reads');
  t.deepEqual(await assertStores({ esdbUrl, databaseUrl: 'postgres://127.0.0.1:9/nothing' }), ['postgres']);
});

/** The embedded store as EventStoreDB answers a user who may read and not append: before it looks at the revision. */
async function startReadOnly(t: ExecutionContext): Promise<number> {
  const storage = openStorage(':memory:');
  const server = new Server();
  server.addService(streamsService, {
    read: createReads(storage).read,
    batchAppend(call: ServerDuplexStream<Message, Buffer>) {
      call.on('end', () => call.end());
      call.on('data', (request: Message) => {
        const denied = errorStatus(status.PERMISSION_DENIED, 'Access Denied', 'AccessDenied');
        call.write(encode(field(1, bytesIn(request, 1)), denied));
      });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  t.teardown(() => {
    server.forceShutdown();
    storage.close();
  });
  return port;
}

test('a user who may read but not append: a role does not start, and says which rights are missing', async (t) => {
  const esdbUrl = urlAt(await startReadOnly(t));
  await t.throwsAsync(assertStores({ esdbUrl, databaseUrl: 'postgres://127.0.0.1:9/nothing' }), {
    instanceOf: ConfigError,
    message: /ESDB_URL: the user may not append to the streams of the ledger; `ledger eventstore acl`/,
  });
  t.is(await refusal(esdbUrl, systemRuntime, null), null, 'a command that only reads');
});
