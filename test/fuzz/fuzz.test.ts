// Some hundred requests of the fuzzer. Nothing is timed: only an answer that never comes is a fault.
import test from 'ava';
import { folderWithCluster } from '../support/postgres.ts';
import { fuzz } from './run.ts';
import { startService } from './service.ts';

test('odd requests get documented answers, and leave the stores consistent', async (t) => {
  const service = await startService(await folderWithCluster(t));
  t.teardown(() => service.stop());
  const { faults, figures } = await fuzz(service, {
    seed: 1,
    requests: 250,
    slowMs: Number.POSITIVE_INFINITY,
  });
  t.deepEqual(faults, []);
  for (const status of ['200', '303', '400', '401', '404', '413', '415'])
    t.true(figures.statuses.has(status), status);
  const { isClean, report } = await service.verify();
  t.true(isClean, report);
});
