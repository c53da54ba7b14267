import test from 'ava';
import { assertKey } from '../../src/commands/key-fingerprint.ts';
import { connectEventStore } from '../../src/eventstore/client.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import { log } from '../projections/helpers.ts';
import { startServer } from '../support/event-store.ts';

test('the first key that is used is the key of the log; any other is refused', async (t) => {
  const { url, close } = await startServer();
  const eventStore = connectEventStore({ url, log, runtime: systemRuntime });
  t.teardown(async () => {
    await eventStore.close();
    await close();
  });
  const { signal } = new AbortController();
  const check = (key: string) =>
    assertKey({ name: 'TRANSACTION_ID_KEY', key }, { eventStore, runtime: systemRuntime, signal });
  await Promise.all([check('the key'), check('the key')]);
  await check('the key');
  await t.throwsAsync(check('another key'), {
    message: 'The key is not the one that this log was begun with',
  });
  t.is((await eventStore.load('key-fingerprint-TRANSACTION_ID_KEY')).length, 1);
});
