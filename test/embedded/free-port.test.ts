// The ports that the embedded servers get, and keep while they are restarted.
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';

test('each port is free, another one, and none that systems give to connections', async (t) => {
  const first = await freePort();
  const taken = createServer().listen(first + 5, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  t.is(new Set([first, first + 5, ...ports]).size, 22);
  for (const port of ports) {
    t.true(port >= 20_000 && port < 32_768, String(port));
    const server = createServer().listen(port, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
  }
});
