// The child process of bench/docs.ts: the HTTP role as in production, and a bare Koa handler that sends a page's bytes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '@ledger/kernel/log.ts';
import Koa from 'koa';
import { loadConfig } from '../src/config/config.ts';
import { startHttp } from '../src/roles/http.ts';
import { openStores } from '../src/roles/stores.ts';

const [page = ''] = process.argv.slice(2);
const secret = 'a-secret-of-this-benchmark-alone-long-enough';

// Pages of the documentation need no store.
const config = loadConfig({
  PORT: '0',
  BASE_URL: 'https://pay.example',
  NODE_ENV: 'production',
  MERCHANTS_FILE: process.env.MERCHANTS_FILE,
  ESDB_URL: 'esdb://127.0.0.1:9?tls=false',
  DATABASE_URL: 'postgres://127.0.0.1:9/none',
  GATEWAY_URL: 'https://gateway.example/',
  GATEWAY_SECRET: secret,
  REGISTRY_URL: 'https://registry.example',
  REGISTRY_TOKEN: secret,
  TRANSACTION_ID_KEY: secret,
  DATA_KEY: Buffer.alloc(32).toString('base64'),
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'no-reply@agency.example',
  API_KEYS: secret,
  LANDREG_ACCESS_KEY: secret,
  LOG_LEVEL: 'warn',
});
const log = createLog(config.logLevel, 'bench');
const { port } = await startHttp(openStores(config, log));
const answer = await fetch(`http://127.0.0.1:${port}${page}`, { headers: { 'accept-encoding': 'identity' } });
const bytes = Buffer.from(await answer.arrayBuffer());

const bare = new Koa();
bare.use((ctx) => {
  ctx.type = 'html';
  ctx.body = bytes;
});
const server = createServer(bare.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ port, barePort: (server.address() as AddressInfo).port, bytes: bytes.length });
process.once('disconnect', () => process.exit());
