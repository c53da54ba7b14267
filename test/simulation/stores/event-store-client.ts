/** Leads the official EventStoreDB client onto the simulated network when a simulated process connects. */
import { createRequire } from 'node:module';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Network } from '../engine/network.ts';
import { currentProcess, type SimulatedProcess } from '../engine/process.ts';
import type { EventStoreCluster } from './event-store.ts';
import { createChannel } from './grpc.ts';

const require = createRequire(import.meta.url);

type AppendToStream = EventStoreDBClient['appendToStream'];
const appends = new WeakMap<SimulatedProcess, AppendToStream>();

let place: { network: Network; cluster: EventStoreCluster } | undefined;

/** Clients of simulated processes connect to this cluster from now on. */
export function useEventStore(network: Network, cluster: EventStoreCluster): void {
  place = { network, cluster };
}

/** Replaces how the client connects, once and for all; outside of a simulated process it stays as it is. */
export function installEventStoreClient(): void {
  const connect = EventStoreDBClient.connectionString.bind(EventStoreDBClient);
  const simulated = (url: string) => {
    const client = connect(url);
    const process = currentProcess();
    if (!process || !place) return client;
    const { network, cluster } = place;
    const createSimulatedChannel = async () => {
      const target = await resolveUri(client);
      const isDiscovered = target.startsWith('eventstore:');
      return createChannel(process, network, target, () =>
        isDiscovered ? cluster.discover(process) : target,
      );
    };
    return Object.assign(client, {
      createChannel: createSimulatedChannel,
      appendToStream: appendOf(process),
    });
  };
  Object.assign(EventStoreDBClient, { connectionString: simulated });
}

/** The node that a redirect named, else the address of the URL. */
const resolveUri = (client: EventStoreDBClient) =>
  (client as unknown as { resolveUri(): Promise<string> }).resolveUri();

/** The client keeps pending appends in a table of its module: each process gets a module of its own. */
function appendOf(process: SimulatedProcess): AppendToStream {
  const known = appends.get(process);
  if (known) return known;
  const prototype = EventStoreDBClient.prototype as { appendToStream: AppendToStream };
  const original = prototype.appendToStream;
  const folder = '@eventstore/db-client/dist/streams/appendToStream';
  for (const name of ['index.js', 'batchAppend.js'])
    Reflect.deleteProperty(require.cache, require.resolve(`${folder}/${name}`));
  require(`${folder}/index.js`);
  const own = prototype.appendToStream;
  prototype.appendToStream = original;
  appends.set(process, own);
  return own;
}
