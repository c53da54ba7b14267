// `npm test` itself, on a project of a few small test files: nothing is left out, and no failure is lost.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from './embedded/helpers.ts';

const own = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const parts = ['run', 'in-turn', 'in-turn-claims', 'whole-file'];
const begin =
  "import test from 'ava';\nimport { appendFileSync, existsSync, writeFileSync } from 'node:fs';\n";

const configuration =
  "export default { extensions: ['ts'], workerThreads: false, cache: false, nodeArguments: ['--no-warnings'] };";

/** What a run of these test files says, and what they wrote into the file `told`. `check` is the program of that script. */
async function runOf(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  { check, config = configuration }: { check?: string; config?: string } = {},
) {
  const root = await temporaryFolder(t);
  await mkdir(join(root, 'test/support'), { recursive: true });
  for (const part of parts) await cp(own(`test/support/${part}.ts`), join(root, `test/support/${part}.ts`));
  await symlink(own('node_modules'), join(root, 'node_modules'));
  await writeFile(join(root, 'package.json'), JSON.stringify({ type: 'module', scripts: { check } }));
  await writeFile(join(root, 'ava.config.js'), config);
  for (const [name, code] of Object.entries(files))
    await writeFile(join(root, `test/${name}.test.ts`), begin + code);
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    const options = { cwd: root, env: { ...process.env, TEST_PROCESSES: '3' } };
    const args = ['test/support/run.ts', ...(check === undefined ? [] : ['--check'])];
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, output: stdout + stderr }),
    );
  });
  return { code, output, told: await readFile(join(root, 'told'), 'utf8').catch(() => '') };
}

const tell = (what: string) => `appendFileSync('told', '${what} ');`;

test('each file has its tests, hooks and ends to itself; one that fails is run once more, alone', async (t) => {
  const file = (name: string) => `
    import { wholeFile } from './support/whole-file.ts';
    await Promise.resolve();
    wholeFile.teardown(() => { ${tell(`${name}:ended`)} });
    test.before(() => { ${tell(`${name}:before`)} });
    test.after.always(() => { ${tell(`${name}:after`)} });
    test('of one name', (t) => { ${tell(`${name}:second`)} t.pass(); });
    test.serial('that comes first', (t) => { ${tell(`${name}:first`)} t.pass(); });`;
  const names = ['a', 'b', 'c', 'd', 'e'];
  const once = `test('once', (t) => {
    if (!existsSync('seen')) Promise.reject(new Error('Nobody waits for this'));
    writeFileSync('seen', '');
    t.pass();
  });`;
  const run = await runOf(t, { ...Object.fromEntries(names.map((name) => [name, file(name)])), once });
  t.is(run.code, 0, run.output);
  const told = run.told.trim().split(' ');
  for (const name of names)
    t.deepEqual(
      told.filter((each) => each.startsWith(name)),
      ['before', 'first', 'second', 'after', 'ended'].map((each) => `${name}:${each}`),
    );
  t.regex(run.output, /✔ .*e › that comes first/);
  t.regex(run.output, /Nobody waits for this/);
  t.regex(run.output, /Failed beside others, and not alone: test\/once\.test\.ts\n$/);
});

test('no failure is lost, and all other files are run, also where a process ends', async (t) => {
  const others = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [
    name,
    `test('passes', (t) => { ${tell(name)} t.pass(); });`,
  ]);
  const faulty = {
    empty: '',
    failing: `test('fails', (t) => { ${tell('fails')} t.fail(); });`,
    hook: `test('passes', (t) => t.pass()); test.after.always(() => { throw new Error('not closed'); });`,
    killed: `test('is killed', () => process.kill(process.pid, 'SIGKILL'));`,
  };
  const { code, output, told } = await runOf(t, { ...Object.fromEntries(others), ...faulty });
  t.is(code, 1, output);
  t.deepEqual(told.trim().split(' ').toSorted(), [...'abcdef', 'fails', 'fails']);
  const again = Object.keys(faulty).map((name) => `test/${name}.test.ts`);
  t.true(output.includes(`Once more, alone: ${again.join(', ')}\n`), output);
});

test('a run without tests fails, whatever ava says', async (t) => {
  const a = "test('passes', (t) => t.pass());";
  // Nothing keeps the process alive: it ends with success.
  const { code, output } = await runOf(t, { a }, { config: 'await new Promise(() => undefined);' });
  t.is(code, 1, output);
});

test('what `npm run check` finds is shown, ends the run, and fails it', async (t) => {
  const waits =
    "test('waits', async (t) => { await new Promise((end) => setTimeout(end, 100_000)); t.pass(); });";
  const { code, output } = await runOf(t, { waits }, { check: 'echo a finding && exit 3' });
  t.is(code, 1, output);
  t.regex(output, /a finding\n[\s\S]*npm run check has failed: the run is ended\./);
});
