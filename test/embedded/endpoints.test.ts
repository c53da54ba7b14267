// The keys of a data folder are generated once and never replaced by accident.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { developmentKeys, readEndpoints, writeEndpoints } from '../../packages/embedded/endpoints.ts';
import { StartError } from '../../packages/embedded/start-error.ts';
import { temporaryFolder } from './helpers.ts';

test('keys are generated at the first start and kept; addresses are read with them', async (t) => {
  const folder = await temporaryFolder(t);
  t.deepEqual(readEndpoints(folder), {});
  const keys = await developmentKeys(folder);
  t.regex(keys.TRANSACTION_ID_KEY ?? '', /^[0-9a-f]{64}$/);
  t.not(keys.TRANSACTION_ID_KEY, keys.GATEWAY_SECRET);
  t.deepEqual(await developmentKeys(folder), keys);
  await writeEndpoints(folder, { ESDB_URL: 'esdb://127.0.0.1:1' });
  t.deepEqual(readEndpoints(folder), { ...keys, ESDB_URL: 'esdb://127.0.0.1:1' });
});

test('a folder of an earlier release gets the keys that it lacks and keeps its other keys', async (t) => {
  const folder = await temporaryFolder(t);
  const old = { TRANSACTION_ID_KEY: 'a'.repeat(64), GATEWAY_SECRET: 'b'.repeat(64) };
  await writeFile(join(folder, 'keys.json'), JSON.stringify(old));
  await writeFile(join(folder, 'eventstore.db'), '');
  const keys = await developmentKeys(folder);
  t.like(keys, old);
  t.regex(keys.SEAL_KEY ?? '', /^[0-9a-f]{64}$/);
  t.regex(keys.LINK_KEY ?? '', /^[0-9a-f]{64}$/);
  t.is(Buffer.from(keys.DATA_KEY ?? '', 'base64').length, 32);
  t.deepEqual(await developmentKeys(folder), keys);
});

test('keys that are missing beside events are not generated again', async (t) => {
  const folder = await temporaryFolder(t);
  await developmentKeys(folder);
  await writeFile(join(folder, 'eventstore.db'), '');
  await rm(join(folder, 'keys.json'));
  const refusal = await t.throwsAsync(developmentKeys(folder), { instanceOf: StartError });
  t.regex(refusal?.message ?? '', /keys\.json is missing.*Restore keys\.json from the backup/);
  await t.throwsAsync(readFile(join(folder, 'keys.json')), { code: 'ENOENT' });
});

test('unreadable keys are not treated as missing', async (t) => {
  const folder = await temporaryFolder(t);
  // A folder in its place cannot be read by anybody, root included.
  await mkdir(join(folder, 'keys.json'));
  for (const read of [developmentKeys, readEndpoints])
    await t.throwsAsync(async () => read(folder), {
      instanceOf: StartError,
      message: /keys\.json cannot be read: .*EISDIR/,
    });
});

for (const damaged of ['', '{"TRANSACTION_ID_KEY": "0f', 'null', '["0f"]', '{"TRANSACTION_ID_KEY": null}']) {
  test(`damaged keys give a clear error and are left unchanged: ${damaged}`, async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'keys.json'), damaged);
    for (const read of [developmentKeys, readEndpoints])
      await t.throwsAsync(async () => read(folder), {
        instanceOf: StartError,
        message: /keys\.json is damaged/,
      });
    t.is(await readFile(join(folder, 'keys.json'), 'utf8'), damaged);
  });
}
