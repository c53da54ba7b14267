// Some hundred requests of the fuzzer. Nothing is timed: only an answer that never comes is a fault.
import test from 'ava';
import { folderWithCluster } from '../support/postgres.ts';
import { startService } from '../support/served-ledger.ts';
import { fuzz } from './run.ts';

test('odd requests get documented answers, and leave the stores consistent', async (t) => {
  t.timeout(300_000);
  const service = await startService(await folderWithCluster(t));
  t.teardown(() => service.stop());
  const options = { seed: 1, from: 1, requests: 150, inFlight: 4, slowMs: Number.POSITIVE_INFINITY };
  const { faults, figures } = await fuzz(service, options);
  t.deepEqual(faults, []);
  for (const status of ['200', '303', '400', '401', '404']) t.true(figures.statuses.has(status), status);
  const { isClean, report } = await service.verify();
  t.true(isClean, report);
});
