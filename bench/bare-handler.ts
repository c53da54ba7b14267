// The baseline of bench/http.ts: a bare Koa handler that only does one append of a payment's size.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { connectEventStore } from '../src/eventstore/client.ts';
import { createLog } from '../src/kernel/log.ts';
import { systemRuntime } from '../src/kernel/system-runtime.ts';

const [url = ''] = process.argv.slice(2);
const eventStore = connectEventStore({ url, log: createLog('silent', 'bench'), runtime: systemRuntime });
const data = { text: 'x'.repeat(900) };

const app = new Koa();
app.use(async (ctx) => {
  const event = { id: randomUUID(), type: 'Bare', data, metadata: {} };
  await eventStore.append(`bare-${event.id}`, [event], 'no_stream');
  ctx.body = 'ok';
});
const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
