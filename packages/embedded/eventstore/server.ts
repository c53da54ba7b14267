// A small EventStoreDB: the gRPC protocol that the official client speaks, over one SQLite file.
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { Server, ServerCredentials, type sendUnaryData, status } from '@grpc/grpc-js';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { encode, field } from '@ledger/kernel/write-protobuf.ts';
import { StartError } from '../start-error.ts';
import { createAppend } from './append.ts';
import { backupService, createBackup } from './backup.ts';
import { createBatchAppends } from './batch-append.ts';
import { writeTogether } from './joined-writes.ts';
import { passwordCheck } from './password.ts';
import { createReads } from './read.ts';
import { openStorage } from './storage.ts';
import { asBuffer, streamsService } from './wire.ts';

const VERSION = '23.10.0';
/** The client sends chunks of 3 MiB and never splits an event: an append that is too large must still arrive. */
const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Serves the store in `file`, which is created if missing, on `host` and `port` (0: any free port), to those who know
 * the password, if there is one. Throws if another process uses the file or the port. `close` answers the appends
 * received so far, ends subscriptions and releases both.
 *
 * Run it in a process of its own, because it blocks on the disk at every commit. Its memory does not grow with the
 * number of events; `node --max-semi-space-size=8` also keeps V8 from holding 100 MiB of garbage under load.
 */
export async function startEventStore({
  file,
  host,
  port,
  password = null,
}: {
  file: string;
  host: string;
  port: number;
  password?: string | null;
}): Promise<{ port: number; close(): Promise<void> }> {
  const storage = openStorage(file);
  const reads = createReads(storage);
  const batchAppends = createBatchAppends(storage);
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    interceptors: [writeTogether, ...(password === null ? [] : [passwordCheck(password)])],
    'grpc.enable_channelz': 0, // statistics that nobody asks for
  });
  server.addService(streamsService, {
    read: reads.read,
    append: createAppend(storage),
    batchAppend: batchAppends.batchAppend,
    delete: deletesNothing,
    tombstone: deletesNothing,
  });
  server.addService(backupService, { backup: createBackup(storage, file) });
  server.addService(featuresService, {
    getSupportedMethods: (_: unknown, answer: sendUnaryData<Buffer>) => answer(null, supportedMethods),
  });
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const bind = promisify(server.bindAsync.bind(server));
  const boundPort = await bind(address, ServerCredentials.createInsecure()).catch((cause: unknown) => {
    storage.close();
    throw new StartError(`The event store cannot listen on ${address}: ${reasonOf(cause)}`, { cause });
  });

  return {
    port: boundPort,
    async close() {
      storage.flush();
      // Lets the answers to the flushed appends be written before their calls end.
      await setImmediate();
      batchAppends.end();
      reads.endSubscriptions();
      await shutDown(server);
      storage.close();
    },
  };
}

/** What else is not offered, gRPC itself refuses with a sentence that names the method. */
function deletesNothing(_: unknown, answer: sendUnaryData<never>): void {
  answer({
    code: status.UNIMPLEMENTED,
    details: 'The embedded event store deletes nothing: it holds a ledger',
  });
}

const { getSupportedMethods } = features.ServerFeaturesService;
const featuresService = { getSupportedMethods: { ...getSupportedMethods, responseSerialize: asBuffer } };

/** A SupportedMethods of serverfeatures.proto. */
const supportedMethods = encode(
  ...['read', 'append', 'batchappend'].map((name) =>
    field(1, field(1, name), field(2, 'event_store.client.streams.streams')),
  ),
  field(2, VERSION),
);

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, CLOSE_TIMEOUT_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
