// What is no configuration is refused in a sentence, before it takes the time and the memory of the process.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ConfigError, readYamlFile } from '@ledger/kernel/yaml-file.ts';
import test, { type ExecutionContext } from 'ava';
import { object, record, string } from 'superstruct';
import { temporaryFolder } from '../embedded/helpers.ts';

test('a file that is far too large for one that people write is not parsed', async (t) => {
  const large = 'merchants:\n'.padEnd(1024 * 1024 + 1, '  a: {name: x}\n');
  t.deepEqual(await faultsOf(t, large), ['FILE cannot be read: it is larger than 1 MiB']);
});

for (const [title, content, fault] of [
  ['an empty file', '', ': the file is empty'],
  ['a file of comments', '# none yet\n', ': the file is empty'],
  ['a file of zeros', Buffer.alloc(100), ' cannot be read: it is not a text in UTF-8'],
  ['an archive', gzipSync('merchants: {}'), ' cannot be read: it is not a text in UTF-8'],
  [
    'a text in UTF-16',
    Buffer.from('\ufeffmerchants: {}', 'utf16le'),
    ' cannot be read: it is not a text in UTF-8',
  ],
  // Its letters would be wrong on every receipt.
  [
    'Windows-1252',
    Buffer.from('merchants: { a: José }', 'latin1'),
    ' cannot be read: it is not a text in UTF-8',
  ],
  ['a page', '<html>404 Not Found</html>', ': the file must hold keys with values'],
  ['a key without a value', 'merchants:', ': merchants is empty'],
  ['a list in place of keys', 'merchants: [a]', ': merchants must hold keys with values'],
] as const)
  test(`the fault says what ${title} is`, async (t) => {
    t.deepEqual(await faultsOf(t, content), [`FILE${fault}`]);
  });

async function faultsOf(t: ExecutionContext, content: string | Buffer) {
  const path = join(await temporaryFolder(t), 'merchants.yaml');
  await writeFile(path, content);
  const struct = object({ merchants: record(string(), string()) });
  const { faults } = t.throws(() => readYamlFile(path, struct), { instanceOf: ConfigError });
  return faults.map((fault) => fault.replace(path, 'FILE'));
}
