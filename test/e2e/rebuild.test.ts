// Rebuilds under the program as its users run it: nobody who asks or looks meanwhile notices, and a command that is
// killed is taken over by the role of projections.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { connectEventStore } from '../../src/eventstore/client.ts';
import { query, until } from '../embedded/helpers.ts';
import { type Deployment, log, paymentRequest, startDeployment } from './ledger.ts';

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

async function ask({ baseUrl }: Deployment, reference: string): Promise<Response> {
  return await fetch(`${baseUrl}/generic/request`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: 'Bearer demo-key',
    },
    body: JSON.stringify(paymentRequest(reference)),
  });
}

test.serial(
  '2,000 requests during rebuilds of payments: none fails, and the rows are the same',
  async (t) => {
    t.timeout(240_000);
    const deployment = await startDeployment(t);
    const timesMs: { before: number[]; during: number[] } = { before: [], during: [] };
    const timed = async (when: keyof typeof timesMs, request: () => Promise<Response>): Promise<Response> => {
      const startedMs = performance.now();
      const answer = await request();
      await answer.clone().text();
      timesMs[when].push(performance.now() - startedMs);
      return answer;
    };
    /** Four at a time, as before so during. */
    const inParallel = async (count: number, request: (number: number) => Promise<unknown>) => {
      let begun = 0;
      const caller = async () => {
        while (begun < count) {
          begun += 1;
          await request(begun);
        }
      };
      await Promise.all([caller(), caller(), caller(), caller()]);
    };
    const ids: string[] = [];
    await inParallel(300, async (number) => {
      const answer = await timed('before', () => ask(deployment, `B-${number}`));
      const { data } = (await answer.json()) as { data: { transaction_id: string } };
      ids.push(data.transaction_id);
    });
    let rebuilding = true;
    let rebuilds = 0;
    const codes: (number | null)[] = [];
    const again = (async () => {
      while (rebuilding) {
        codes.push((await run(t, deployment, ['rebuild', 'payments'])).code);
        rebuilds += 1;
      }
    })();
    const statuses = new Map<number, number>();
    await inParallel(2_000, async (number) => {
      const answer = await timed('during', () =>
        number % 2 === 0
          ? ask(deployment, `D-${number}`)
          : fetch(`${deployment.baseUrl}/generic/receipt/${ids[number % ids.length]}`),
      );
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    });
    rebuilding = false;
    await again;
    t.deepEqual([...statuses], [[200, 2_000]]);
    t.true(rebuilds > 0 && codes.every((code) => code === 0));
    const median = (values: readonly number[]) =>
      values.toSorted((a, b) => a - b)[values.length >> 1]?.toFixed(1);
    t.log(
      `${rebuilds} rebuilds; median before ${median(timesMs.before)} ms, during ${median(timesMs.during)} ms, slowest during ${Math.max(...timesMs.during).toFixed(1)} ms`,
    );
    await until(async () => {
      const [row] = await query(
        deployment.databaseUrl,
        'select count(*)::integer as count from payments.payments',
      );
      return row?.count === 1_300;
    });
    const compared = await run(t, deployment, ['rebuild', 'payments', '--dry-run']);
    t.is(compared.output, 'payments: of 1,300 rows none differs.\n');
    t.is(compared.code, 0);
    await query(
      deployment.databaseUrl,
      `update payments.payments set status = 'succeeded' where transaction_id = '${ids[0]}'`,
    );
    const found = await run(t, deployment, ['rebuild', '--dry-run', 'payments']);
    t.is(found.code, 1);
    t.is(found.output, `payments: payments ${ids[0]} changed status\npayments: of 1,300 rows 1 differ.\n`);
    t.notRegex(deployment.projections.output(), /"level":(40|50|60)/, 'the role has nothing to complain of');
  },
);

test.serial(
  'a command that is killed leaves its rebuild to the role; Ctrl-C leaves it to the same command',
  async (t) => {
    const deployment = await startDeployment(t);
    t.is((await ask(deployment, 'A')).status, 200);
    const eventStore = connectEventStore({ url: deployment.esdbUrl, log });
    t.teardown(() => eventStore.close());
    const types = async () => (await eventStore.load('projection-payments')).map(({ type }) => type);

    const command = ledger(t, deployment, ['rebuild', 'payments']);
    await until(async () => (await types()).length > 0);
    command.kill('SIGKILL');
    await until(async () => (await types()).length === 2);
    t.deepEqual(await types(), ['ProjectionRebuildRequested', 'ProjectionRebuilt']);

    const interrupted = ledger(t, deployment, ['rebuild']);
    const complaint = text(interrupted.stderr);
    await until(async () => (await types()).length > 2);
    interrupted.kill('SIGINT');
    const [code] = await once(interrupted, 'exit');
    t.is(code, 130);
    t.true((await complaint).endsWith('Interrupted. `ledger rebuild` goes on from there.\n'));

    const unknown = await run(t, deployment, ['rebuild', 'nonsense']);
    t.is(unknown.code, 2);
    t.regex(unknown.errors, /There is no projection nonsense; there are payments/);
  },
);
