import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import test from 'ava';
import { assertKey, assertKeys, fingerprintOf } from '../../src/commands/key-fingerprint.ts';
import { query, temporaryFolder } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { startServer } from '../support/event-store.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';

test('the first key that is used is the key of the log; any other is refused; LINK_KEY can be replaced', async (t) => {
  t.timeout(120_000);
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
    message: `The configuration is invalid:
  - The log names another TRANSACTION_ID_KEY, which this process does not know`,
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
  const isNew = () => assertKey(leaked, { eventStore, runtime: systemRuntime, signal });
  t.deepEqual([await isNew(), await isNew()], [true, false]);
  await check('the key', 'a new one');
  await t.throwsAsync(check('the key', 'next key'), refused);
  t.is((await eventStore.load('key-fingerprint-LINK_KEY')).length, 3);

  // The program itself: roles that sign links do not run with another key, and the command makes it the right one.
  const database = await createDatabase();
  const environment = {
    ...settingsFor({ esdbUrl: url, databaseUrl: database.url }),
    ...{ TRANSACTION_ID_KEY: 'the key', LINK_KEY: 'another-link-key' },
    ...{ PORT: '0', DATA_DIR: await temporaryFolder(t) },
  };
  for (const role of ['http', 'reactors']) {
    const { code, output } = await runLedger([role], environment);
    t.is(code, 78, 'a supervisor must not start it again');
    t.regex(output, /The log names another LINK_KEY/, role);
    t.notRegex(output, /was not caught|\n\s+at /);
  }
  const replace = async (which: string, more = {}) =>
    await runLedger(['keys', `replace-${which}-key`], { ...environment, ...more });
  t.regex((await replace('link')).stdout, /^The log names the present LINK_KEY now\./);
  t.regex((await replace('link')).stdout, /^The log names .* already.* Nothing was replaced\.\n$/);
  await check('the key', 'another-link-key');
  const SEAL_KEY = '5ea1'.repeat(16);
  t.regex((await replace('seal', { SEAL_KEY })).stdout, /^The log names the present SEAL_KEY now,/);
  t.regex(
    (await replace('seal', { SEAL_KEY })).stdout,
    /^The log names .* already.* Nothing was replaced\.\n$/,
  );
  const [stored] = await eventStore.load('key-fingerprint-SEAL_KEY');
  t.like(stored?.data, { fingerprint: fingerprintOf(sealKeyOf(SEAL_KEY).publicKey) });

  // Nor do they run, or make keys anew, where the keys of personal data were dropped.
  await query(
    database.url,
    `drop schema if exists personal_data cascade;
     create schema payments create table payers (transaction_id text); insert into payments.payers values ('')`,
  );
  for (const role of ['http', 'reactors']) {
    const { code, output } = await runLedger([role], environment);
    t.is(code, 78, output);
    t.regex(output, /DATABASE_URL: the schema personal_data is missing: restore it from its backup/, role);
  }
});
