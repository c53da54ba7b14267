// What is no configuration is refused in a sentence, before it takes the time and the memory of the process.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, readYamlFile } from '@ledger/kernel/yaml-file.ts';
import test from 'ava';
import { any } from 'superstruct';
import { temporaryFolder } from '../embedded/helpers.ts';

test('a file that is far too large for one that people write is not parsed', async (t) => {
  const path = join(await temporaryFolder(t), 'merchants.yaml');
  await writeFile(path, 'merchants:\n'.padEnd(1024 * 1024 + 1, '  a: {name: x}\n'));
  const { message } = t.throws(() => readYamlFile(path, any()), { instanceOf: ConfigError });
  t.is(message, `The configuration is invalid:\n  - ${path} is larger than 1 MiB`);
});
