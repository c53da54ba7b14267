// The examples of proxies in ops/, as HAProxy and nginx read them, in front of two servers with the limits of `ledger http`.
import { match } from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { createLimitedServer } from '../../src/http/server/connection-limits.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';

const has = (program: string) => {
  try {
    return execFileSync('sh', ['-c', `command -v ${program} && command -v openssl`]).length > 0;
  } catch {
    return false;
  }
};

/** Of one address at a time, instead of the 300 of the examples. */
const mostOfOneAddress = 5;

/** What each proxy is started with, from an example whose addresses are those of the test. */
const proxies = {
  haproxy: {
    file: 'ops/haproxy.cfg',
    limit: ['gt 300', `gt ${mostOfOneAddress}`],
    refusal: /^$/,
    complete: (config: string) => config,
    start: (file: string) => ['haproxy', '-db', '-f', file],
  },
  nginx: {
    file: 'ops/nginx.conf',
    limit: ['address 300', `address ${mostOfOneAddress}`],
    refusal: /^HTTP\/1\.1 429 /,
    complete: (config: string, folder: string) =>
      `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`).join('')}
      ${config} }`,
    start: (file: string) => ['nginx', '-e', 'stderr', '-c', file],
  },
} as const;

/** Answers with what it was asked, once it has read all of it. `begun` counts requests whose headers have arrived. */
async function startServer(t: ExecutionContext) {
  const seen = { begun: 0 };
  const server = createLimitedServer((request, response) => {
    seen.begun += 1;
    const { 'x-forwarded-for': forwardedFor } = request.headers;
    request.resume().on('end', () => response.end(JSON.stringify({ forwardedFor, url: request.url })));
  });
  const admin = createServer((_, response) => response.end());
  await Promise.all(
    [server, admin].map(async (each) => {
      t.teardown(() => each.close().closeAllConnections());
      await once(each.listen(0, '127.0.0.1'), 'listening');
    }),
  );
  const portOf = (each: typeof server) => (each.address() as AddressInfo).port;
  return { seen, port: portOf(server), adminPort: portOf(admin) };
}

async function startProxy(t: ExecutionContext, name: keyof typeof proxies) {
  const { complete, file, limit, start } = proxies[name];
  const folder = await temporaryFolder(t);
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const make = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout';
  execFileSync('openssl', [...make.split(' '), key, '-out', certificate], { stdio: 'pipe' });
  // HAProxy takes both from one file.
  writeFileSync(certificate, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
  const servers = [await startServer(t), await startServer(t)] as const;
  const [port, plainPort] = [await freePort(), await freePort()];
  const [{ port: first, adminPort }, { port: second, adminPort: secondAdmin }] = servers;
  const replaced = [
    ['10.0.0.11:5173 check port 5175', `127.0.0.1:${first} check port ${adminPort}`],
    ['10.0.0.12:5173 check port 5175', `127.0.0.1:${second} check port ${secondAdmin}`],
    ['10.0.0.11:5173', `127.0.0.1:${first}`],
    ['10.0.0.12:5173', `127.0.0.1:${second}`],
    ['bind :80', `bind 127.0.0.1:${plainPort}`],
    ['bind :443', `bind 127.0.0.1:${port}`],
    ['listen 80', `listen 127.0.0.1:${plainPort}`],
    ['listen 443', `listen 127.0.0.1:${port}`],
    [/\/etc\/(haproxy|nginx)\/pay\.agency\.example\.pem/g, certificate],
    ['/etc/nginx/pay.agency.example.key', key],
    ['/var/log/nginx/error.log', join(folder, 'errors')],
    limit,
  ] as const;
  const config = replaced.reduce((text, [from, to]) => text.replaceAll(from, to), readFileSync(file, 'utf8'));
  const written = join(folder, 'config');
  writeFileSync(written, complete(config.replace(/maxconn 8000/, 'maxconn 100'), folder));
  const [command = '', ...args] = start(written);
  const proxy = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaints = '';
  proxy.stderr.on('data', (chunk) => (complaints += chunk));
  t.teardown(async () => {
    const ended = once(proxy, 'exit');
    if (proxy.exitCode === null && proxy.kill()) await ended;
  });
  await until(async () => {
    if (proxy.exitCode !== null) throw new Error(`${name} ended: ${complaints}`);
    const socket = connectTo(port, '127.0.0.1');
    return await once(
      socket.on('error', () => {}),
      'connect',
      { signal: AbortSignal.timeout(1_000) },
    ).then(
      () => socket.destroy(),
      () => false,
    );
  });
  return { port, begun: () => servers[0].seen.begun + servers[1].seen.begun };
}

/** Sends it on a connection of its own; resolves to all that comes until the connection ends. */
function send(t: ExecutionContext, port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  let received = '';
  const answer = new Promise<string>((resolve) => {
    socket.setEncoding('latin1').on('data', (chunk) => (received += chunk));
    socket.on('error', () => {}); // a connection that is refused
    socket.on('close', () => resolve(received));
  });
  socket.write(text);
  return answer;
}

const head = 'HTTP/1.1\r\nHost: pay.agency.example\r\nConnection: close\r\n';

for (const name of Object.keys(proxies) as (keyof typeof proxies)[]) {
  const withProxy = has(name) ? test : test.skip;

  withProxy(
    `${name}: the address of the caller comes last, after what the caller claims (skipped without it)`,
    async (t) => {
      const { port } = await startProxy(t, name);
      const answer = await send(t, port, `GET /x?y=1 ${head}X-Forwarded-For: 6.6.6.6\r\n\r\n`);
      t.regex(answer, /^HTTP\/1\.1 200 .*"forwardedFor":"6\.6\.6\.6, 127\.0\.0\.1","url":"\/x\?y=1"/s);
    },
  );

  withProxy(
    `${name}: bodies that never end use up no connection of a process, and callers are limited (skipped without it)`,
    async (t) => {
      const { begun, port } = await startProxy(t, name);
      const unfinished = `POST / ${head}Content-Length: 60000\r\n\r\n${'a'.repeat(50_000)}`;
      for (let each = 1; each < mostOfOneAddress; each += 1) void send(t, port, unfinished);
      const whole = send(t, port, `POST / ${head}Content-Length: 60000\r\n\r\n${'a'.repeat(60_000)}`);
      t.regex(await whole, /^HTTP\/1\.1 200 /);
      t.is(begun(), 1);
      const more = Array.from({ length: 2 * mostOfOneAddress }, () => send(t, port, unfinished));
      const isRefused = async (answer: Promise<string>) => match(await answer, proxies[name].refusal);
      await t.notThrowsAsync(Promise.any(more.map(isRefused)));
      t.is(begun(), 1);
    },
  );
}
