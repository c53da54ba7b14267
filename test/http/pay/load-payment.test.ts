// What payers, merchants and callers of /api/v1 are shown while a store is away, the projection stands or a process has
// just started; on real stores, which end during the test.
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { createListQueries } from '@ledger/projections/runtime/list-projection.ts';
import test, { type ExecutionContext } from 'ava';
import { startPostgres } from '../../../packages/embedded/postgres.ts';
import { createTransactionRegistry } from '../../../src/clients/transaction-registry/registry.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import type { Account } from '../../../src/events/user.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { createLinks } from '../../../src/receipts/payment-links.ts';
import { until } from '../../embedded/helpers.ts';
import { log, run } from '../../projections/helpers.ts';
import { hasPoppler, textOf } from '../../receipts/pdf-reader.ts';
import { type Changes, linkKeys, startApp, type TestApp } from '../../support/app.ts';
import { countLoads } from '../../support/count-loads.ts';
import { startServer, startServerProcess } from '../../support/event-store.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase, folderWithCluster } from '../../support/postgres.ts';
import { listOf, registryRecord, startRegistry } from '../../support/registry.ts';
import {
  chooseMethod,
  createPayment,
  merchantHeaders,
  postResult,
  resultFields,
  signed,
} from '../generic/helpers.ts';
import { createLandPayment, keyHeaders, reportLandResult } from '../landreg/helpers.ts';

type Stores = { server: { url: string }; postgres: { url: string } };

/** Stores that the test may stop. */
async function ownStores(t: ExecutionContext) {
  const server = await startServerProcess(t);
  const postgres = await startPostgres({ dataDir: await folderWithCluster(t), log });
  t.teardown(() => postgres.stop());
  return { server, postgres };
}

async function sharedStores(t: ExecutionContext): Promise<Stores> {
  const server = await startServer();
  t.teardown(server.close);
  return { server, postgres: await createDatabase() };
}

/** The projections and one process of the HTTP role on both stores; `beside` starts another. */
async function start(t: ExecutionContext, { server, postgres }: Stores) {
  const eventStore = connectEventStore({ url: server.url, log, runtime: systemRuntime });
  t.teardown(() => eventStore.close());
  const db = connectPostgres({ url: postgres.url, log });
  t.teardown(() => db.destroy());
  const queries = createPaymentQueries(db, personalData, async () => {});
  const userQueries = createListQueries<Account>(db, users.name);
  let runs: Background[] = [];
  const project = () => {
    runs = [payments, users].map((each) => run(t, each, { eventStore }, { db, url: postgres.url }));
  };
  const stopProjections = () => Promise.all(runs.map((run) => run.stop()));
  project();
  await until(() =>
    Promise.all([queries.findPayment(''), userQueries.has('')]).then(
      () => true,
      () => false,
    ),
  );
  const beside = async (changes: Changes = {}): Promise<TestApp> => {
    const app = await startApp({ ...queries, ...changes, content: { users: userQueries } }, { eventStore });
    t.teardown(() => app.close());
    return app;
  };
  /** Waits until the row of a payment is at the head of its stream. */
  const projected = async (id: string) => {
    const { length } = await eventStore.load(paymentStream(id));
    await until(async () => (await queries.findPayment(id))?.revision === length - 1);
  };
  return { beside, eventStore, project, projected, stopProjections, userQueries };
}

const states = {
  requested: { status: null, shown: 'Awaiting payment' },
  failed: { status: '0', shown: 'Failed' },
  succeeded: { status: '1', shown: 'Successful' },
  cancelled: { status: '2', shown: 'Cancelled' },
  pending: { status: '3', shown: 'Pending' },
} as const;

type State = keyof typeof states;
type Made = {
  channel: 'generic' | 'landreg';
  state: State;
  id: string;
  reference: string;
};

/** One of each channel in each state. */
async function paymentsInEveryState(app: TestApp): Promise<Made[]> {
  const made = (Object.keys(states) as State[]).map(async (state): Promise<Made[]> => {
    const { status: STATUS } = states[state];
    const reference = `IN-${state}`;
    const id = await createPayment(app, { trans_id: reference });
    const land = await createLandPayment(app, { transaksi_id: `L-${state}` });
    if (STATUS !== null) {
      await postResult(app, signed(resultFields(id, { STATUS })));
      await reportLandResult(app, land.transactionId, { STATUS });
    }
    return [
      { channel: 'generic', state, id, reference },
      { channel: 'landreg', state, id: land.transactionId, reference: `L-${state}` },
    ];
  });
  return (await Promise.all(made)).flat();
}

const asAt = /This is the record as at \d+ \w+ \d{4}/;
const asAtMalay = /Ini ialah rekod setakat \d+ \w+ \d{4}/;

/** Opens the receipt, the PDF and the page to pay of each payment; each says its state, and its time if it is outdated. */
async function openAll(t: ExecutionContext, app: TestApp, payments: readonly Made[], isOutdated: boolean) {
  const opened = payments.map(async ({ channel, state, id }) => {
    const name = `${channel} ${state}`;
    const isMarked = isOutdated && state !== 'succeeded';
    const links = createLinks({ baseUrl: app.url, linkKeys, runtime: systemRuntime })[channel];
    const [receipt, malay, pdf, pay] = await Promise.all(
      [links.receipt(id, 'en'), links.receipt(id, 'ms'), links.download(id, 'en'), links.pay(id, 'en')].map(
        (url) => fetch(url, { redirect: 'manual' }),
      ),
    );
    if (!receipt || !malay || !pdf || !pay) return t.fail();
    const html = await receipt.text();
    t.deepEqual([receipt.status, malay.status, pdf.status], [200, 200, 200], name);
    t.true(html.includes(states[state].shown), name);
    t.is(asAt.test(html), isMarked, name);
    t.is(asAtMalay.test(await malay.text()), isMarked, name);
    const drawn = Buffer.from(await pdf.arrayBuffer());
    if (hasPoppler) t.is(asAt.test(textOf(drawn)), isMarked, name);
    const isSettled = state === 'succeeded' || state === 'pending';
    t.is(pay.status, isSettled ? 303 : 200, name);
    if (!isSettled) t.is(asAt.test(await pay.text()), isMarked, name);
  });
  await Promise.all(opened);
}

test.serial(
  'with the event store killed, and then with Postgres gone: receipts in every state, requery and users',
  async (t) => {
    t.timeout(180_000);
    const { server, postgres } = await ownStores(t);
    const stores = await start(t, { server, postgres });
    const registry = await startRegistry(t);
    const client = createTransactionRegistry({
      runtime: systemRuntime,
      config: { url: registry.url, token: 'a-token' },
      log,
    });
    const app = await stores.beside({ registry: client });
    const payments = await paymentsInEveryState(app);
    const created = await fetch(`${app.url}/api/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Aminah', email: 'a@agency.example' }),
    });
    const user = (await created.json()) as { id: string; createdAt: string };
    await Promise.all(payments.map(({ id }) => stores.projected(id)));
    await until(() => stores.userQueries.has(user.id));
    await openAll(t, app, payments, false);

    await server.end('SIGKILL');
    // It knows nothing about any stream.
    const restarted = await stores.beside({ registry: client });
    const requery = async (from: TestApp, { channel, reference }: Made) => {
      const headers = channel === 'generic' ? merchantHeaders : keyHeaders;
      const answered = await fetch(`${from.url}/${channel}/requery/${reference}`, { headers });
      t.is(answered.status, 200);
      return (await answered.json()) as { data: Record<string, string>; message: string };
    };
    const startedMs = performance.now();
    await openAll(t, restarted, payments, true);
    t.log(`pages without the event store: ${Math.round(performance.now() - startedMs)} ms`);
    // It knows a success of whatever it is asked about.
    registry.answer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', registry.url);
      const value = searchParams.get('value');
      const named = payments.find(({ reference }) => reference === value)?.id ?? '';
      const [, id = searchParams.get('merchant_trans_id') ?? ''] = /transactions\/(.+)/.exec(pathname) ?? [];
      if (value !== null) listOf({ key: 'transaksi id', value, transaction_id: named })(request, response);
      else if (pathname.endsWith(id)) response.end(JSON.stringify(registryRecord(id)));
      else listOf(registryRecord(id))(request, response);
    });
    for (const each of payments) {
      const { data, message } = await requery(restarted, each);
      const shown = each.state === 'requested' ? 'Pending' : states[each.state].shown;
      t.like(data, { transaction_id: each.id, payment_status: shown }, message);
      if (each.state === 'succeeded') t.false('as_at' in data, 'a success is final');
      else t.regex(data.as_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/);
      if (each.state !== 'succeeded')
        t.is(
          message,
          `The registry says successful, which cannot be recorded at the moment: status remains ${shown}`,
        );
    }
    for (const each of [app, restarted]) {
      const shown = await fetch(`${each.url}/api/v1/users/${user.id}`);
      t.deepEqual([shown.status, await shown.json()], [200, user]);
      // The first process may have written it less than ten seconds ago.
      const isOld = (shown.headers.get('as-at') ?? '') >= user.createdAt; // By the event store's clock.
      t.true(isOld || each === app, 'it may have changed since');
    }
    // What decides needs the stream.
    const form = await fetch(`${restarted.url}/generic/pay/${payments[0]?.id}`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'any', method: 'cc' }),
    });
    t.is(form.status, 503);
    t.is((await fetch(`${restarted.url}/generic/receipt/${'0'.repeat(26)}`)).status, 503, 'there may be one');

    await server.start();
    // While it is known to be away nothing is asked of it; one look a second finds that it is back.
    await until(() => stores.eventStore.load(paymentStream('none')).then(Boolean, () => false));
    await stores.stopProjections();
    await postgres.stop();
    const folding = await stores.beside({ registry: client });
    await openAll(t, folding, payments, false);
    for (const each of payments) {
      const { data, message } = await requery(folding, each);
      t.false('as_at' in data, each.state);
      t.is(data.payment_status, 'Successful', each.state);
      if (each.state !== 'succeeded')
        t.is(message, 'The registry says successful: status updated to Successful');
    }
    const shown = await fetch(`${folding.url}/api/v1/users/${user.id}`);
    t.deepEqual([shown.status, await shown.json()], [200, user]);
    t.is(shown.headers.get('as-at'), null);
  },
);

test.serial('with the projection stopped, the payer sees what was written, in any process', async (t) => {
  t.timeout(120_000);
  const stores = await start(t, await sharedStores(t));
  const app = await stores.beside();
  const other = await stores.beside();
  const id = await createPayment(app);
  const { transactionId } = await createLandPayment(app);
  await Promise.all([stores.projected(id), stores.projected(transactionId)]);
  await stores.stopProjections();

  // The other process has seen an earlier state a moment ago.
  t.is((await fetch(`${other.url}/generic/pay/${id}`)).status, 200);
  const redirect = await postResult(app, signed(resultFields(id, { STATUS: '0' })));
  t.is(redirect.headers.get('location'), `${app.url}/generic/receipt/${id}`, 'exactly as documented');
  for (const process of [app, other]) t.regex(await textAfter(redirect, app, process), /Failed/);

  const pending = await reportLandResult(app, transactionId, { STATUS: '3' });
  t.regex(await textAfter(pending, app, other), /Pending/);
  await stores.project();
  await stores.projected(transactionId);
  await stores.stopProjections();
  const paid = await reportLandResult(app, transactionId);
  t.regex(await textAfter(paid, app, other), /Official receipt/);
});

test.serial(
  'with the projection stopped, a receipt shows the second payment that was just reported',
  async (t) => {
    t.timeout(120_000);
    const stores = await start(t, await sharedStores(t));
    const app = await stores.beside();
    const id = await createPayment(app);
    await postResult(app, signed(resultFields(id)));
    await stores.projected(id);
    await stores.stopProjections();
    const second = await postResult(app, signed(resultFields(id, { PAYMENT_TRANS_ID: 'another' })));
    t.regex(await textAfter(second, app, app), /charged once more/i);
  },
);

/** The page to which a process has redirected, as `to` shows it to the same browser. */
async function textAfter(redirect: Response, from: TestApp, to: TestApp): Promise<string> {
  const location = redirect.headers.get('location') ?? '';
  const shown = await fetch(location.replace(from.url, to.url), { headers: { cookie: cookieOf(redirect) } });
  return await shown.text();
}

const cookieOf = (response: Response): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

test.serial('the revision in a cookie is signed, and enough for a row after a restart', async (t) => {
  t.timeout(120_000);
  const stores = await start(t, await sharedStores(t));
  const startedAt = new Date();
  const app = await stores.beside({ clock: () => startedAt });
  const { transactionId } = await createLandPayment(app);
  const redirect = await reportLandResult(app, transactionId, { STATUS: '0' });
  const location = redirect.headers.get('location') ?? '';
  await stores.projected(transactionId);
  const { eventStore, loadsOf } = countLoads(stores.eventStore);
  /** How often a process that has just started reads the stream to show the receipt to a browser with this cookie. */
  const loadsFor = async (cookie: string, now = startedAt): Promise<number> => {
    const restarted = await stores.beside({ eventStore, clock: () => now });
    const before = loadsOf(paymentStream(transactionId));
    const response = await fetch(location.replace(app.url, restarted.url), { headers: { cookie } });
    t.is(response.status, 200);
    t.regex(await response.text(), /Failed/);
    return loadsOf(paymentStream(transactionId)) - before;
  };
  const cookie = cookieOf(redirect);
  t.is(await loadsFor(cookie), 0);
  const inAMinute = new Date(startedAt.getTime() + 60_000);
  t.is(await loadsFor(cookie, inAMinute), 1, 'it expires, and the page reads the stream');
  const [name = '', told = ''] = cookie.split('=', 2);
  const { transactionId: another } = await createLandPayment(app);
  const [, foreign = ''] = cookieOf(await reportLandResult(app, another)).split('=', 2);
  for (const forged of ['', '0', told.replace(/^\d+/, '0'), told.replace(/^\d+/, '9'), `${told}x`, foreign])
    t.is(await loadsFor(`${name}=${forged}`), 1, forged);
});

test.serial('how often the life of a payment reads its stream', async (t) => {
  t.timeout(120_000);
  const stores = await start(t, await sharedStores(t));
  const { eventStore, loadsOf } = countLoads(stores.eventStore);
  // What is known stays known, however slow the machine is.
  const app = await stores.beside({ eventStore, monotonicMs: () => 0 });
  const counts: Record<string, number> = {};
  let before = 0;
  const count = async (what: string, id: string, visit: Promise<unknown>) => {
    await visit;
    counts[what] = loadsOf(paymentStream(id)) - before;
    await stores.projected(id);
    before = loadsOf(paymentStream(id));
  };
  const get = (path: string) => fetch(`${app.url}/generic/${path}`).then((response) => response.text());
  const id = await createPayment(app);
  await stores.projected(id);
  before = loadsOf(paymentStream(id));
  await count('page', id, get(`pay/${id}`));
  await count('page, again', id, get(`pay/${id}`));
  // The form itself and its page, which the helper opens for the token.
  await count('choice', id, chooseMethod(app, id, { method: 'cc' }));
  await count('failure', id, postResult(app, signed(resultFields(id, { STATUS: '0' }))));
  await count('statement', id, get(`receipt/${id}`));
  await count('statement as PDF', id, get(`download/${id}`));
  await count('success', id, postResult(app, signed(resultFields(id))));
  await count('receipt', id, get(`receipt/${id}`));
  t.log(counts);
  t.deepEqual(counts, {
    page: 0,
    'page, again': 0,
    choice: 1,
    failure: 1,
    statement: 0,
    'statement as PDF': 0,
    success: 1,
    receipt: 0,
  });
});
