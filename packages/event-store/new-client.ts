/** Makes the official client, which keeps the credentials of its URL to itself unless the connection is encrypted. */
import { EventStoreDBClient } from '@eventstore/db-client';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import './grpc-faults.ts';

/** An unencrypted URL of this machine with credentials: that of the embedded event store. */
const local = /^esdb:\/\/([^/?@]+)@(?:127\.0\.0\.1|localhost)(?::\d+)?\/?\?(?:.*&)?tls=false(?:&|$)/;

/** Throws Error if the URL is no connection string. */
export function createClient(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(url);
  const [, credentials] = local.exec(url) ?? [];
  if (credentials === undefined) return client;
  const authorization = `Basic ${Buffer.from(decodeURIComponent(credentials)).toString('base64')}`;
  const { callArguments } = hooksOf(client);
  const withCredentials: ClientHooks['callArguments'] = (options, callOptions) => {
    const [metadata, settings] = callArguments(options, callOptions);
    metadata.set('authorization', authorization);
    return [metadata, settings];
  };
  return Object.assign(client, { callArguments: withCredentials });
}

/** What the client offers to its subclasses; but from a connection string it makes no instance of a subclass. */
type ClientHooks = {
  execute<Client, T>(
    Client: new (...args: never[]) => Client,
    debugName: string,
    action: (client: Client) => Promise<T>,
  ): Promise<T>;
  GRPCStreamCreator<Client, Call>(
    Client: new (...args: never[]) => Client,
    debugName: string,
    create: (client: Client) => Call,
  ): () => Promise<Call>;
  callArguments(options: { requiresLeader?: boolean }, callOptions?: CallOptions): [Metadata, CallOptions];
  getChannel(): Promise<{ close(): void }>;
};

export const hooksOf = (client: EventStoreDBClient) => client as unknown as ClientHooks;

/**
 * Cancels every call, including those that are still looking for a node. The channel is closed once its calls have
 * ended: a call that has just begun does not listen for errors yet.
 */
export function closeClient(client: EventStoreDBClient): void {
  client
    .dispose()
    .then(hooksOf(client).getChannel)
    .then((channel) => channel.close())
    .catch(() => {}); // no node was found
}
