// The ports that the embedded servers get, and keep while they are restarted.
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';

test('no port is one that systems give to connections, and each can be listened on', async (t) => {
  for (let count = 0; count < 20; count += 1) {
    const port = await freePort();
    t.true(port >= 20_000 && port < 32_768, String(port));
    const server = createServer().listen(port, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
  }
});
