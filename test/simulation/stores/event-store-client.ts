/** Leads the official EventStoreDB client onto the simulated network when a simulated process connects. */
import { createRequire } from 'node:module';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Network } from '../engine/network.ts';
import { currentProcess } from '../engine/process.ts';
import type { EventStoreCluster } from './event-store.ts';
import { createChannel } from './grpc-channel.ts';

const require = createRequire(import.meta.url);

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
    const { network } = place;
    const createSimulatedChannel = async () =>
      createChannel(process, network, await (client as unknown as ClientHooks).resolveUri());
    return Object.assign(client, { createChannel: createSimulatedChannel });
  };
  Object.assign(EventStoreDBClient, { connectionString: simulated });

  const discovery: Discovery = require('@eventstore/db-client/dist/Client/discovery.js');
  const { discoverEndpoint } = discovery;
  discovery.discoverEndpoint = async (...settings) => {
    const process = currentProcess();
    return process && place ? place.cluster.discover(process) : await discoverEndpoint(...settings);
  };
}

type ClientHooks = { resolveUri(): Promise<string> };
type Discovery = {
  discoverEndpoint(...settings: unknown[]): Promise<{ address: string; port: number }>;
};
