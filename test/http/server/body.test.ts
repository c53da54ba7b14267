// What a caller is told when a body cannot be read.
import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import Koa from 'koa';
import { readFormData } from '../../../src/http/server/body.ts';
import type { Context } from '../../../src/http/server/context.ts';
import { until } from '../../embedded/helpers.ts';
import { runWithFewFiles } from '../../support/few-files.ts';

const mebibyte = 1024 * 1024;

test('a body that the process has no files left to read is not called malformed', async (t) => {
  const said = await runWithFewFiles(`
    import { once } from 'node:events';
    import { Agent, request } from 'node:http';
    import { text } from 'node:stream/consumers';
    import Koa from 'koa';
    const { jsonBody } = await import('./src/http/server/body.ts');
    const app = new Koa();
    app.silent = true;
    app.use(async (ctx) => {
      ctx.state.address = '127.0.0.1';
      await jsonBody(ctx, async () => {}).catch(({ answer }) => ctx.throw(answer?.status ?? 500));
      ctx.body = 'read';
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    async function send(method, body) {
      const headers = body && { 'Content-Type': 'application/json', 'Content-Length': body.length };
      const sent = request({ port: server.address().port, host: '127.0.0.1', agent, method, headers }).end(body);
      const [answer] = await once(sent, 'response');
      await text(answer);
      console.log(answer.statusCode);
    }
    await send('GET', '');
    exhaust();
    await send('POST', '{"a":1}');
    recover();
    await send('POST', '{"a":1}');
    await send('POST', '{"a":');
    agent.destroy();
    server.close();`);
  t.deepEqual(said, ['200', '500', '200', '400']);
});

test('bodies hold at most 64 MiB together: who sends the most is refused, and what has ended counts no more', async (t) => {
  let bytes = 0;
  const app = new Koa<{ address: string }>();
  app.use(async (ctx) => {
    ctx.state.address = ctx.get('X-From');
    ctx.req.on('data', ({ length }) => {
      bytes += length;
    });
    ctx.body = 'taken';
    await readFormData(ctx as Context, 32 * mebibyte).catch((error) => {
      ctx.status = error.answer.status;
    });
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  /** Sends a form but for its end, and returns what sends that. */
  async function begin(from: string, sizeMiB: number) {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b', 'X-From': from };
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers });
    const answered = once(sent, 'response');
    const before = bytes;
    sent.write('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n');
    sent.write(Buffer.alloc(sizeMiB * mebibyte, 'x'));
    await until(() => bytes - before >= sizeMiB * mebibyte);
    return async () => {
      sent.end('\r\n--b--\r\n');
      const [answer] = await answered;
      return [answer.resume().statusCode, answer.headers.connection];
    };
  }
  const [larger, smaller] = [await begin('192.0.2.1', 24), await begin('192.0.2.1', 16)];
  const [other, last] = [await begin('198.51.100.1', 20), await begin('203.0.113.1', 5)];
  t.deepEqual(await larger(), [503, 'close']);
  for (const end of [smaller, other, last]) t.deepEqual(await end(), [200, 'keep-alive']);
  const next = await begin('192.0.2.1', 30);
  t.deepEqual(await next(), [200, 'keep-alive']);
});
