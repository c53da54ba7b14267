// What a caller is told when a body cannot be read.
import test from 'ava';
import { runWithFewFiles } from '../../support/few-files.ts';

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
