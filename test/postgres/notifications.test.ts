/** Listening, while the server may be gone without a word: what was announced meanwhile was missed. */
import { getEventListeners } from 'node:events';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { createClient } from '@ledger/postgres/pool.ts';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { query, until } from '../embedded/helpers.ts';
import { startWire } from '../event-store/helpers.ts';
import { log } from '../projections/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import { testRuntime } from '../support/runtime.ts';

test('a server that is lost behind a proxy, which keeps the connection, is noticed; a stop waits for none', async (t) => {
  const { url } = await createDatabase();
  const wire = await startWire(t, Number(new URL(url).port));
  const throughWire = new URL(url);
  throughWire.port = String(wire.port);
  const told: (string | null)[] = [];
  const runtime = testRuntime();
  let isPausing = false;
  const signals: (AbortSignal | undefined)[] = [];
  const listener = listenForNotifications({
    databaseUrl: throughWire.href,
    channel: 'news',
    onNotification: (payload) => told.push(payload),
    log,
    runtime: {
      ...runtime,
      async sleep(ms, signal) {
        isPausing = true;
        signals.push(signal);
        await runtime.sleep(Math.min(ms, 100), signal);
        isPausing = false;
      },
    },
  });
  t.teardown(listener.stop);
  await until(() => told.length === 1);
  await query(url, `select pg_notify('news', 'the first')`);
  await until(() => told.length === 2);

  wire.lost.answers = true;
  const sentBefore = wire.bytes.requests;
  await until(() => wire.bytes.requests > sentBefore);
  await query(url, `select pg_notify('news', 'missed')`);
  await until(() => wire.connections.size === 0);
  wire.lost.answers = false;
  await until(() => told.length === 3);
  t.deepEqual(told, [null, 'the first', null]);
  const [ofFirst = new AbortController().signal] = signals;
  t.deepEqual(getEventListeners(ofFirst, 'abort'), [], 'nothing keeps the lost connection in memory');

  // Asked before, and given up after the same time.
  const client = createClient(throughWire.href, 'beside it');
  client.on('error', () => {});
  await client.connect();
  await until(() => isPausing);
  wire.lost.answers = true;
  const unanswered = client.query('select 1').catch(() => 'a query');
  await until(() => !isPausing);
  t.is(await Promise.race([listener.stop().then(() => 'the stop'), unanswered]), 'the stop');
});

test('an outage is logged once, however often it is tried', async (t) => {
  const reasons: unknown[] = [];
  let pauses = 0;
  const runtime = testRuntime();
  const listener = listenForNotifications({
    databaseUrl: `postgres://127.0.0.1:${await freePort()}/ledger`,
    channel: 'news',
    onNotification: () => t.fail(),
    log: { warn: (line: unknown) => reasons.push(line) } as unknown as typeof log,
    runtime: {
      ...runtime,
      async sleep(_, signal) {
        pauses += 1;
        await runtime.sleep(1, signal);
      },
    },
  });
  await until(() => pauses >= 3);
  await listener.stop();
  t.is(reasons.length, 1);
});

test('a proxy that soon cuts every connection is logged once, too', async (t) => {
  const { url } = await createDatabase();
  const wire = await startWire(t, Number(new URL(url).port));
  const throughWire = new URL(url);
  throughWire.port = String(wire.port);
  const logged: string[] = [];
  let connected = 0;
  const runtime = testRuntime();
  const listener = listenForNotifications({
    databaseUrl: throughWire.href,
    channel: 'news',
    onNotification() {
      connected += 1;
      wire.cut();
    },
    log: { warn: (line: unknown) => logged.push(JSON.stringify(line)) } as unknown as typeof log,
    runtime: { ...runtime, sleep: (ms, signal) => runtime.sleep(Math.min(ms, 100), signal) },
  });
  t.teardown(listener.stop);
  await until(() => connected >= 4);
  t.true(logged.length > 0);
  t.deepEqual(logged, [...new Set(logged)]);
});
