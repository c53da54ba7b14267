// Payments go on without PostgreSQL, on keys that the process has in reserve.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { startPostgres } from '../../packages/embedded/postgres.ts';
import { until } from '../embedded/helpers.ts';
import { startServer } from '../support/event-store.ts';
import { settingsFor } from '../support/ledger.ts';
import { folderWithCluster } from '../support/postgres.ts';
import {
  gatewayResult,
  gatewaySecret,
  log,
  paymentRequest,
  persistently,
  postResult,
  requestPayment,
  startRole,
} from './ledger.ts';

test('payments are taken while PostgreSQL is away, also after a restart', async (t) => {
  const dataDir = await folderWithCluster(t);
  const [server, postgres, port] = [
    await startServer(),
    await startPostgres({ dataDir, log }),
    await freePort(),
  ];
  t.teardown(server.close);
  const baseUrl = `http://127.0.0.1:${port}`;
  const environment = {
    ...settingsFor({ esdbUrl: server.url, databaseUrl: postgres.url }),
    PORT: String(port),
    DATA_DIR: dataDir,
    GATEWAY_SECRET: gatewaySecret,
  };
  const http = await startRole(t, ['http'], environment, (output) => output.includes('http listening'));
  await until(async () => (await readdir(join(dataDir, 'unused-keys')).catch(() => [])).length === 32);
  await postgres.stop();
  const pay = async (reference: string) => {
    const asked = await persistently(() => requestPayment(baseUrl, paymentRequest(reference)));
    t.is(asked.status, 200, reference);
    const { data } = (await asked.json()) as { data: { transaction_id: string } };
    const paid = await postResult(baseUrl, gatewayResult(data.transaction_id));
    t.is(paid.status, 303, reference);
  };
  for (const no of [1, 2, 3]) await pay(`AWAY-${no}`);
  await http.crash();
  for (const no of [4, 5, 6]) await pay(`AWAY-${no}`);
  t.is((await readdir(join(dataDir, 'unused-keys'))).length, 16, 'the reserve served');
});
