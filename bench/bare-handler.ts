// The floor of bench/http.ts: a Koa handler that does one append of a payment's size with the official client alone, so
// that what the ledger gains by its own code does not lower what it is compared with.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import Koa from 'koa';

const [url = ''] = process.argv.slice(2);
const client = EventStoreDBClient.connectionString(url);
const data = { text: 'x'.repeat(900) };

const app = new Koa();
app.use(async (ctx) => {
  const event = jsonEvent({ type: 'Bare', data });
  await client.appendToStream(`bare-${event.id}`, event, { expectedRevision: NO_STREAM });
  ctx.body = 'ok';
});
const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
