// The previous release beside this one on the same stores, in both directions, until every role is of this one.
import { once } from 'node:events';
import { connect } from 'node:net';
import { connectEventStore } from '@ledger/event-store/client.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { paymentStream, readPaymentEvent } from '../../src/events/payment.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { requestBody } from '../http/landreg/helpers.ts';
import { startReceiver } from '../reactors/receiver.ts';
import { startServer } from '../support/event-store.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import { previousCommit, unpackPreviousRelease } from '../support/previous-release.ts';
import {
  gatewayResult,
  gatewaySecret,
  log,
  paymentRequest,
  persistently,
  postResult,
  type Role,
  requestPayment,
  startRole,
} from './ledger.ts';

const previous = await unpackPreviousRelease();
const title =
  'the roles are upgraded one by one, http first or last: nothing is lost, and all rows are as the log says';

if (previous === null) test.skip(`${title} (this clone lacks commit ${previousCommit})`, () => undefined);
else
  test(title, async (t) => {
    t.timeout(180_000);
    const [server, postgres, receiver] = [
      await startServer(),
      await createDatabase(),
      await startReceiver(t),
    ];
    t.teardown(server.close);
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const environment = {
      ...settingsFor({ esdbUrl: server.url, databaseUrl: postgres.url }),
      PORT: String(port),
      BASE_URL: baseUrl,
      DATA_DIR: await temporaryFolder(t),
      GATEWAY_SECRET: gatewaySecret,
      SEAL_KEY: '5ea1'.repeat(16),
    };
    const start = (name: string, isPrevious: boolean, changes = {}): Promise<Role> =>
      startRole(
        t,
        [name],
        { ...environment, ...changes },
        (output) => output.includes('started'),
        isPrevious ? previous : undefined,
      );
    const expected = new Map<string, string>();

    const request = async (reference: string) => {
      const body = paymentRequest(reference, { callback_url: receiver.url, email: '' });
      const answer = await persistently(() => requestPayment(baseUrl, body));
      t.is(answer.status, 200, reference);
      const { data } = (await answer.json()) as { data: { transaction_id: string } };
      expected.set(data.transaction_id, 'PaymentRequested');
      return data.transaction_id;
    };
    const landLink = async (transaksi_id: string) => {
      const answer = await fetch(`${baseUrl}/landreg/request`, {
        method: 'POST',
        headers: {
          authorization: 'Bearer landreg-key',
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body: JSON.stringify(requestBody({ transaksi_id })),
      });
      t.is(answer.status, 200);
      return ((await answer.json()) as { data: { payment_url: string } }).data.payment_url;
    };
    const report = async (id: string, status: '0' | '1') => {
      const answer = await persistently(() => postResult(baseUrl, gatewayResult(id, { STATUS: status })));
      t.is(answer.status, 303);
      expected.set(id, status === '1' ? 'PaymentSucceeded' : 'PaymentFailed');
    };
    /** A payment that is paid, one that fails and one that stays open, which is returned; and the one of before is paid. */
    const round = async (name: string, open?: string) => {
      await report(await request(`${name}-PAID`), '1');
      await report(await request(`${name}-FAILED`), '0');
      if (open) await report(open, '1');
      const paid = [...expected].filter(([, type]) => type === 'PaymentSucceeded');
      const ids = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      await until(() => paid.every(([id]) => ids().has(`${id}-callback-1`)));
      return await request(`${name}-OPEN`);
    };

    // This release's http writes what the previous one's projections and reactors read.
    const roles = [
      start('projections', true),
      start('reactors', true),
      start('http', false, { TRUSTED_PROXIES: '1' }),
    ];
    const [oldProjections, oldReactors, http] = await Promise.all(roles);
    await fetch(`${baseUrl}/api/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Aminah', email: 'aminah@agency.example' }),
    });
    const links = [await landLink('T-NEW')];
    const first = await round('HTTP-FIRST');
    await Promise.all([oldProjections?.stop(), oldReactors?.stop()]);
    await Promise.all([start('projections', false), start('reactors', false)]);
    const second = await round('ALL-NEW', first);

    // The other way round: the previous release's http reads what this one's reactors write, and tables of this one.
    const proxy = connect(port, '127.0.0.1').setEncoding('utf8');
    t.teardown(() => proxy.destroy());
    let answers = '';
    proxy.on('data', (chunk) => (answers += chunk));
    const askByProxy = () => proxy.write('GET /api/v1/health HTTP/1.1\r\nHost: ledger\r\n\r\n');
    askByProxy();
    await until(() => answers.includes('HTTP/1.1 200'));
    const closed = once(proxy, 'close');
    const stopped = http?.stop();
    await until(() =>
      fetch(`${baseUrl}/api/v1/health`).then(
        (answer) => answer.text().then(() => false),
        () => true,
      ),
    );
    // A proxy that has not noticed yet sends the next request on a connection that it has kept.
    askByProxy();
    await Promise.all([stopped, closed]);
    t.is(answers.split('HTTP/1.1 200').length, 3, answers);
    const oldHttp = await start('http', true);
    const third = await round('HTTP-LAST', second);
    // What this release signs while it has no LINK_KEY, and the other way round once it has one.
    const opens = async (link: string) => t.is((await fetch(link)).status, 200, link);
    await Promise.all(links.map(opens));
    links.push(await landLink('T-OLD'));
    await oldHttp.stop();
    await start('http', false, { LINK_KEY: 'a-link-key-of-the-tests' });
    links.push(await landLink('T-NEWEST'));
    await Promise.all(links.map(opens));
    await round('ALL-NEW-AGAIN', third);

    const eventStore = connectEventStore({ url: server.url, log, runtime: systemRuntime });
    t.teardown(() => eventStore.close());
    for (const [id, type] of expected) {
      const types = (await eventStore.load(paymentStream(id))).map((event) => readPaymentEvent(event).type);
      t.is(types.filter((each) => each === type).length, 1, `${id} ${types.join(' ')}`);
    }
    const users = async () => (await (await fetch(`${baseUrl}/api/v1/users`)).json()) as unknown[];
    await until(async () => (await users()).length === 1);
    for (const args of [['rebuild', '--dry-run'], ['verify']]) {
      const { code, output } = await runLedger(args, environment);
      t.is(code, 0, output);
    }
  });
