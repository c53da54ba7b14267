import test from 'ava';
import { assertKey, assertKeys } from '../../src/commands/key-fingerprint.ts';
import { connectEventStore } from '../../src/eventstore/client.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import { log } from '../projections/helpers.ts';
import { startServer } from '../support/event-store.ts';

test('the first key that is used is the key of the log; any other is refused; LINK_KEY can be replaced', async (t) => {
  const { url, close } = await startServer();
  const eventStore = connectEventStore({ url, log, runtime: systemRuntime });
  t.teardown(async () => {
    await eventStore.close();
    await close();
  });
  const { signal } = new AbortController();
  const check = (transactionIdKey: string, current = 'link key', others: readonly string[] = []) =>
    assertKeys(
      { transactionIdKey, linkKeys: { current, others, original: transactionIdKey } },
      { eventStore, runtime: systemRuntime, signal },
    );
  await Promise.all([check('the key'), check('the key')]);
  await check('the key');
  await t.throwsAsync(check('another key'), {
    message: 'The log names another TRANSACTION_ID_KEY, which this process does not know',
  });
  t.is((await eventStore.load('key-fingerprint-TRANSACTION_ID_KEY')).length, 1);

  // LINK_KEY: whoever does not accept what the others sign does not start.
  const refused = { message: /names another LINK_KEY/ };
  await t.throwsAsync(check('the key', 'mistyped'), refused);
  await t.throwsAsync(check('the key', 'the key'), refused, 'a process without LINK_KEY');
  await check('the key', 'link key', ['next key']);
  await check('the key', 'next key', ['link key']);
  await check('the key', 'next key');
  await t.throwsAsync(check('the key', 'link key'), refused, 'a process that was forgotten');
  const leaked = { name: 'LINK_KEY', key: 'a new one', others: null };
  await assertKey(leaked, { eventStore, runtime: systemRuntime, signal });
  await check('the key', 'a new one');
  await t.throwsAsync(check('the key', 'next key'), refused);
  t.is((await eventStore.load('key-fingerprint-LINK_KEY')).length, 3);
});
