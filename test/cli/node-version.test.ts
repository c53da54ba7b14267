// The command line under a Node.js that is too old, as after `npm ci --omit=dev`, which leaves out the project's own.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';

const program = fileURLToPath(new URL('../../src/ledger.js', import.meta.url));

/** Node.js 20 has no `enableCompileCache`, and a named import of it fails before anything runs. */
const asOldNode = `data:text/javascript,${encodeURIComponent(`
  import module, { syncBuiltinESMExports } from 'node:module';
  Object.defineProperty(process.versions, 'node', { value: '20.20.2' });
  delete module.enableCompileCache;
  syncBuiltinESMExports();`)}`;

test('says which version it needs, and how to get it', async (t) => {
  const run = promisify(execFile)(process.execPath, ['--import', asOldNode, program, 'help']);
  const error = await t.throwsAsync<Error & { code: number; stderr: string }>(run);
  t.is(error?.code, 78);
  t.regex(
    error?.stderr ?? '',
    /^The ledger needs Node\.js 24 or newer, and this is 20\.20\.2: .*--omit=dev.*\n$/,
  );
});

test('imports nothing by a name that an older Node.js lacks', (t) => {
  t.notRegex(readFileSync(program, 'utf8'), /import \{[^}]*enableCompileCache/);
});
