// `ledger history` against a running store: by id and by reference, now and then, for people and for programs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test, { type ExecutionContext } from 'ava';
import { landregTransactionId, transactionIdOf } from '../../src/commands/transaction-id.ts';
import type { Channel } from '../../src/events/payment.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { stored } from '../audit/helpers.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { open, startServer } from '../event-store/helpers.ts';
import { type Database, emptyDatabase, log, run } from '../projections/helpers.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { applied, request, result } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';

// Serial: one connection of a process appends.
const key = 'a key of this test';

async function start(t: ExecutionContext, database = { url: 'postgres://127.0.0.1:9/nowhere' } as Database) {
  const { port } = await startServer(t);
  const esdbUrl = `esdb://127.0.0.1:${port}?tls=false`;
  const environment = {
    ...settingsFor({
      esdbUrl,
      databaseUrl: database.url,
    }),
    DATA_DIR: await temporaryFolder(t),
    TRANSACTION_ID_KEY: key,
  };
  const ledger = async (...args: string[]) => {
    const { code, stdout, stderr, output } = await runLedger(args, environment);
    return { code, said: code === 0 ? stdout : output, remark: stderr };
  };
  const store = open(t, port);
  /** A payment that failed; returns its id. */
  async function ask(channel: Channel, code: string, reference: string, change = 0): Promise<string> {
    const id =
      channel === 'landreg'
        ? landregTransactionId(key, reference)
        : transactionIdOf(key, channel, code, reference);
    const data = request({ channel, transactionId: id, reference, merchant: { code, id: 1, name: code } });
    const events = stored([{ type: 'PaymentRequested', data }, applied(result(1, 'failed'))], id);
    for (const event of events.slice(0, change))
      Object.assign(event.data as object, { at: data.at.replace('2026', '2025') });
    await store.append(paymentStream(id), events, 'no_stream');
    return id;
  }
  return { ledger, ask, esdbUrl, database };
}

test.serial('in production it demands no secret but the one that ids are made with', async (t) => {
  const { esdbUrl } = await start(t);
  const merchantsFile = join(await temporaryFolder(t), 'merchants.yaml');
  await writeFile(merchantsFile, 'merchants: {}');
  const { code, output } = await runLedger(['history', 'UNKNOWN'], {
    MERCHANTS_FILE: merchantsFile,
    NODE_ENV: 'production',
    ALLOW_INSECURE: 'eventstore',
    ESDB_URL: esdbUrl,
    DATABASE_URL: 'postgres://127.0.0.1:9/nowhere',
  });
  t.is(code, 78);
  t.regex(output, /^The configuration is invalid:\n {2}- TRANSACTION_ID_KEY is not set\..*\n$/);
});

test.serial('where no ledger runs, it says so', async (t) => {
  const DATA_DIR = await temporaryFolder(t);
  for (const pid of [null, '999999999']) {
    if (pid) await writeFile(join(DATA_DIR, 'ledger.pid'), pid);
    const { code, output } = await runLedger(['history', 'UNKNOWN'], { DATA_DIR });
    t.is(code, 75);
    t.is(
      output,
      `No ledger runs in ${DATA_DIR}: run npm start, or set DATA_DIR to its folder, or ESDB_URL and DATABASE_URL.\n`,
    );
  }
});

test.serial('by id or reference, at a time or a revision', async (t) => {
  const { ledger, ask } = await start(t);
  const id = await ask('generic', 'demo-app', 'INV/1');
  const byId = await ledger('history', id);
  t.is(byId.code, 0, byId.said);
  t.regex(byId.said, /The chain of 2 events is whole\.\n\nAfter event 1:\n {2}Status {6}failed/);
  t.deepEqual(await ledger('history', 'INV/1'), byId);
  const then = await ledger('history', 'INV/1', '--at', '2026-11-20 09:04:59');
  t.regex(then.said, /After event 0:\n {2}Status {6}requested/);
  const { transactionId, verdict, entries } = JSON.parse((await ledger('history', 'INV/1', '--json')).said);
  t.deepEqual([transactionId, verdict], [id, { kind: 'whole' }]);
  t.like(entries[1], { revision: 1, type: 'PaymentFailed', fits: true, state: { status: 'failed' } });
  const early = await ledger('history', id, '--at', '2026-11-19');
  t.like(early, { code: 1, said: 'This payment was not requested until later.\n' });
});

test.serial('a reference of several merchants is refused with a list; the merchant decides', async (t) => {
  const { ledger, ask } = await start(t);
  const mine = await ask('generic', 'demo-app', 'SAME');
  const landreg = await ask('landreg', 'pdtj-app', 'SAME');
  const both = await ledger('history', 'SAME');
  t.is(both.code, 1);
  t.true(both.said.includes(`${mine} of demo-app`) && both.said.includes(`${landreg} of pdtj-app`));
  for (const [named, code, channel] of [
    ['demo-app', 'demo-app', 'generic'],
    ['pdtj-app', 'pdtj-app', 'landreg'],
    ['12', 'pdtj-app', 'landreg'],
  ] as const) {
    const one = await ledger('history', 'SAME', '--merchant', named);
    t.true(one.said.includes(`SAME of ${code} (${channel})`), one.said);
  }
});

test.serial(
  'by what the read model knows: a number of the gateway or of an order, a part of a reference',
  async (t) => {
    const { ledger, ask, esdbUrl, database } = await start(t, await emptyDatabase(await createDatabase()));
    t.like(await ledger('history', 'INV'), { code: 1, said: 'There is no such payment.\n' }, 'no table yet');
    const id = await ask('generic', 'demo-app', 'INV/2026-1');
    const other = await ask('generic', 'demo-app', 'INV/2026-2');
    const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
    t.teardown(() => eventStore.close());
    run(t, payments, { eventStore }, database);
    const { gatewayTransactionId } = result(1, 'failed');
    const both = await until(async () => {
      const found = await ledger('history', gatewayTransactionId.toLowerCase());
      return found.said.includes(id) && found.said.includes(other) && found;
    });
    t.is(both.code, 1, 'both have it');
    const [byPart, byId, proof] = await Promise.all([
      ledger('history', '2026-1', '--merchant', 'demo-app'),
      ledger('history', id),
      ledger('proof', '2026-1'),
    ]);
    t.is(byPart.said, byId.said);
    t.is(
      byPart.remark,
      `Found by a number, or by a part of the reference: ${id}, INV/2026-1 of demo-app.\n`,
      'it may not be the payment that was meant',
    );
    t.true(proof.remark.startsWith(byPart.remark), proof.remark);
    t.is(byId.remark, '');
    t.is((await ledger('history', '2026-1', '--merchant', 'council')).said, 'There is no such payment.\n');
    t.like(await ledger('history', 'NOBODY'), { code: 1, said: 'There is no such payment.\n' });
  },
);

test.serial('a broken chain and an unknown payment are exit code 1; wrong arguments are 2', async (t) => {
  const { ledger, ask } = await start(t);
  const broken = await ledger('history', await ask('generic', 'demo-app', 'CHANGED', 1));
  t.is(broken.code, 1);
  t.regex(broken.said, /The chain is broken at event 0/);
  t.like(await ledger('history', 'NOBODY'), {
    code: 75,
    said: 'No payment has this id or reference; PostgreSQL (DATABASE_URL), where other numbers are found, does not answer\n',
  });
  t.is((await ledger('history')).code, 2);
  for (const [option, value] of [
    ['--at', 'noon'],
    ['--revision', '-'],
    ['--revision', '99'],
  ] as const) {
    const { code, said } = await ledger('history', 'CHANGED', option, value);
    t.is(code, 2);
    t.true(said.startsWith(`${option} must be `), said);
  }
});
