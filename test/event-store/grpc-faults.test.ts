/** Connections that no server answers, and those that nobody needs any more. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { until } from '../embedded/helpers.ts';
import { newEvent, open, startServer } from './helpers.ts';

const all = { streamPrefixes: ['payment-'], after: null };

/** Before the real server answers, connections get this, and stay open. */
for (const [title, beginning] of [
  ['has never answered', Buffer.of()],
  ['has fallen silent after its first byte', Buffer.of(0)],
] as const)
  test(`a connection over which the server ${title} is given up by appends, looks and subscriptions`, async (t) => {
    const server = await startServer(t);
    let isSilent = true;
    const relay = createServer((near) => {
      near.on('error', () => {});
      if (isSilent) near.resume().write(beginning);
      else near.pipe(connect(server.port, '127.0.0.1').on('error', () => {})).pipe(near);
    }).listen(0, '127.0.0.1');
    t.teardown(() => relay.close());
    await once(relay, 'listening');
    const store = open(t, (relay.address() as AddressInfo).port);
    const look = () => store.firstAfter({ ...all, signal: AbortSignal.timeout(1_000) }).catch(() => null);
    const append = () => store.append('payment-1', [newEvent()], 'no_stream');
    const { signal } = new AbortController();
    const followed = store
      .subscribe({ ...all, signal })
      [Symbol.asyncIterator]()
      .next();
    await look();
    await t.throwsAsync(append(), { instanceOf: EventStoreUnavailable });
    isSilent = false;
    await until(async () => {
      await look();
      return await append().catch(() => undefined);
    });
    t.truthy(await until(look));
    t.truthy((await followed).value);
  });

test('no connection is made for a store that has been closed', async (t) => {
  const port = await freePort();
  const store = open(t, port);
  await t.throwsAsync(store.append('payment-1', [newEvent()], 'no_stream'), {
    instanceOf: EventStoreUnavailable,
  });
  await store.close();
  let connections = 0;
  const server = createServer(() => (connections += 1)).listen(port, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  // The pause after a failed attempt takes about a second.
  await sleep(2_000);
  t.is(connections, 0);
});
