// The ports that the embedded servers get, and keep while they are restarted, and those that are taken.
import { once } from 'node:events';
import { createServer } from 'node:net';
import test from 'ava';
import { assertPortsFree, freePort } from '../../packages/embedded/free-port.ts';
import { StartError } from '../../packages/embedded/start-error.ts';

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

test.serial('a port that is taken is named by its variable, also if another variable has it', async (t) => {
  const [port, other] = [await freePort(), await freePort()];
  const host = '127.0.0.1';
  const planned = [
    { variable: 'PORT', host, port },
    { variable: 'ADMIN_PORT', host, port: other },
  ];
  await assertPortsFree(planned);
  await assertPortsFree(planned.map((each) => ({ ...each, port: 0 })));
  await t.throwsAsync(assertPortsFree(planned.map((each) => ({ ...each, port }))), {
    instanceOf: StartError,
    message: `PORT and ADMIN_PORT are both ${port}. Set ADMIN_PORT to another port.`,
  });
  const server = createServer().listen(other, host);
  t.teardown(() => server.close());
  await once(server, 'listening');
  await t.throwsAsync(assertPortsFree(planned), {
    instanceOf: StartError,
    message: `Port ${other} of 127.0.0.1 is in use. Set ADMIN_PORT to another port.`,
  });
});
