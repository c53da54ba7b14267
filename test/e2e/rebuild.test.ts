// Rebuilds under the program as its users run it: nobody who asks or looks meanwhile notices, and a command that is
// killed is taken over by the role of projections.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { connectEventStore } from '../../src/eventstore/client.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import { query, until } from '../embedded/helpers.ts';
import { type Deployment, log, paymentRequest, requestPayment, startDeployment } from './ledger.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

function ledger(t: ExecutionContext, { esdbUrl, databaseUrl }: Deployment, args: readonly string[]) {
  const env = {
    PATH: process.env.PATH,
    ESDB_URL: esdbUrl,
    DATABASE_URL: databaseUrl,
    GATEWAY_URL: 'http://127.0.0.1:9/',
    GATEWAY_SECRET: 'a gateway secret of this test only',
    REGISTRY_URL: 'http://127.0.0.1:9',
    REGISTRY_TOKEN: 'a registry token of this test only',
    TRANSACTION_ID_KEY: 'a transaction id key of this test only',
  };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

async function run(t: ExecutionContext, deployment: Deployment, args: readonly string[]) {
  const child = ledger(t, deployment, args);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { output, errors, code };
}

/** Four at a time. */
async function inParallel(count: number, request: (number: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const caller = async () => {
    while (begun < count) {
      begun += 1;
      await request(begun);
    }
  };
  await Promise.all([caller(), caller(), caller(), caller()]);
}

test('500 requests during rebuilds of payments: none fails, and the rows are the same', async (t) => {
  const deployment = await startDeployment(t);
  const { baseUrl, databaseUrl, esdbUrl } = deployment;
  const eventStore = connectEventStore({ url: esdbUrl, log, runtime: systemRuntime });
  t.teardown(() => eventStore.close());
  const types = async () => (await eventStore.load('projection-payments')).map(({ type }) => type);
  const asked = await requestPayment(baseUrl, paymentRequest('before'));
  const { data } = (await asked.json()) as { data: { transaction_id: string } };

  let requesting = true;
  const rebuilding = (async () => {
    const killed = ledger(t, deployment, ['rebuild', 'payments']);
    await until(async () => (await types()).length > 0);
    killed.kill('SIGKILL');
    await until(async () => (await types()).length === 2);
    t.deepEqual(await types(), ['ProjectionRebuildRequested', 'ProjectionRebuilt'], 'the role took it over');
    const codes: (number | null)[] = [];
    do codes.push((await run(t, deployment, ['rebuild', 'payments'])).code);
    while (requesting);
    return codes;
  })();
  const statuses = new Map<number, number>();
  await inParallel(500, async (number) => {
    const answer =
      number % 2 === 0
        ? await requestPayment(baseUrl, paymentRequest(`D-${number}`))
        : await fetch(`${baseUrl}/generic/receipt/${data.transaction_id}`);
    await answer.text();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  });
  requesting = false;
  t.true((await rebuilding).every((code) => code === 0));
  t.deepEqual([...statuses], [[200, 500]]);

  await until(async () => {
    const [row] = await query(databaseUrl, 'select count(*)::integer as count from payments.payments');
    return row?.count === 251;
  });
  const compared = await run(t, deployment, ['rebuild', 'payments', '--dry-run']);
  t.is(compared.output, 'payments: of 251 rows none differs.\n', compared.errors);
  t.is(compared.code, 0);
  await query(
    databaseUrl,
    `update payments.payments set status = 'succeeded' where transaction_id = '${data.transaction_id}'`,
  );
  const found = await run(t, deployment, ['rebuild', '--dry-run', 'payments']);
  t.is(found.code, 1);
  t.is(
    found.output,
    `payments: payments ${data.transaction_id} changed status\npayments: of 251 rows 1 differ.\n`,
  );

  const before = (await types()).length;
  const interrupted = ledger(t, deployment, ['rebuild']);
  const complaint = text(interrupted.stderr);
  await until(async () => (await types()).length > before);
  interrupted.kill('SIGINT');
  const [code] = await once(interrupted, 'exit');
  t.is(code, 130);
  t.true((await complaint).endsWith('Interrupted. `ledger rebuild` goes on from there.\n'));
  t.notRegex(deployment.projections.output(), /"level":(40|50|60)/, 'the role has nothing to complain of');

  const unknown = await run(t, deployment, ['rebuild', 'nonsense']);
  t.is(unknown.code, 2);
  t.regex(unknown.errors, /There is no projection nonsense; there are payments/);
});
