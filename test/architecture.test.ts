// The import rules of .dependency-cruiser.cjs catch each arrow that once led from one part of http/ into another, or that
// would make a package depend on the ledger. The lint rule runtime-only.grit catches each way to time, randomness and the
// network that is not passed in.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { cruise, type ICruiseResult } from 'dependency-cruiser';

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const { tsConfig: _, ...cruiseOptions } = options;

/** Each with the name of the rule that catches it. */
const arrows: [from: string, to: string, rule: string][] = [
  ['src/http/server/context.ts', 'src/http/console/frame/staff.ts', 'src/http/server-imports'],
  ['src/http/server/errors.ts', 'src/http/console/frame/present-error.ts', 'src/http/server-imports'],
  ['src/http/server/security-headers.ts', 'src/http/console/frame/addresses.ts', 'src/http/server-imports'],
  ['src/http/console/routes.ts', 'src/http/api/routes.ts', 'src/http/console-imports'],
  ['src/http/pay/choose-method.ts', 'src/http/generic/payment-request-form.ts', 'src/http/pay-imports'],
  ['src/http/pay/request-fields.ts', 'src/http/openapi.ts', 'src/http/pay-imports'],
  ['src/http/server/views.ts', 'src/http/pay/texts.ts', 'src/http/server-imports'],
  ['src/http/server/request-log.ts', 'src/http/api/errors.ts', 'src/http/server-imports'],
  ['src/http/generic/request.ts', 'src/http/landreg/request.ts', 'src/http/generic-imports'],
  ['packages/new/run.ts', 'src/events/payment.ts', 'packages-know-nothing-of-the-ledger'],
  ['packages/docs-site/site.ts', 'packages/postgres/pool.ts', 'packages/docs-site-imports'],
  ['packages/kernel/log.ts', 'packages/postgres/pool.ts', 'packages/kernel-imports'],
  ['src/events/codec.ts', 'packages/event-store/client.ts', 'src/events-imports'],
  ['src/commands/execute.ts', 'packages/projections/runtime/run.ts', 'src/commands-imports'],
];

/** The violations in a program of these files alone: `from → to`, by rule. */
async function violationsIn(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
): Promise<[rule: string, arrow: string][]> {
  const baseDir = await mkdtemp(join(tmpdir(), 'ledger-architecture-'));
  t.teardown(() => rm(baseDir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(baseDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const folders = new Set(Object.keys(files).map((name) => name.replace(/\/.*/, '')));
  const { output } = await cruise([...folders], {
    ...cruiseOptions,
    baseDir,
    validate: true,
    ruleSet: { forbidden },
  });
  const { violations } = (output as ICruiseResult).summary;
  return violations.map(({ rule, from, to }) => [rule.name, `${from} → ${to}`]);
}

for (const [from, to, rule] of arrows)
  test(`${from} may not import ${to}`, async (t) => {
    const files = {
      [to]: 'export const it = 1;\n',
      [from]: `import type { it } from '${relative(dirname(from), to)}';\nexport type It = typeof it;\n`,
    };
    t.deepEqual(await violationsIn(t, files), [[rule, `${from} → ${to}`]]);
  });

test('what the rules allow is no violation', async (t) => {
  const files = {
    'src/http/server/errors.ts': 'export const it = 1;\n',
    'src/http/pay/check.ts': "import { it } from '../server/errors.ts';\nexport const again = it;\n",
    'src/http/generic/routes.ts': "import { again } from '../pay/check.ts';\nexport const routes = again;\n",
    'src/http/app.ts': "import { routes } from './generic/routes.ts';\nexport const app = routes;\n",
  };
  t.deepEqual(await violationsIn(t, files), []);
});

const notPassedIn = [
  "import { setTimeout as sleep } from 'node:timers/promises';",
  "import { setInterval as every } from 'timers/promises';",
  "import { randomUUID } from 'node:crypto';",
  'new Date();',
  'new Date;',
  'Date();',
  'Date.now();',
  'const now = Date.now;',
  'performance.now();',
  'process.hrtime.bigint();',
  'setTimeout(run, 1);',
  'setInterval(run, 1);',
  'setImmediate(run);',
  'queueMicrotask(run);',
  'Math.random();',
  'crypto.randomUUID();',
  'randomBytes(16);',
  'AbortSignal.timeout(1);',
  "fetch('http://localhost');",
];

/** The numbers of the lines that the lint rule for the runtime reports in a file of this name and content. */
async function linesOutsideRuntime(t: ExecutionContext, path: string, content: string): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-lint-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
  await writeFile(join(folder, 'biome.json'), JSON.stringify({ plugins: ['./runtime-only.grit'] }));
  await copyFile('runtime-only.grit', join(folder, 'runtime-only.grit'));
  const biome = join(process.cwd(), 'node_modules/.bin/biome');
  const lint = spawn(biome, ['lint', '--max-diagnostics=none', '.'], { cwd: folder });
  let output = '';
  lint.stdout.on('data', (chunk) => (output += chunk));
  lint.stderr.on('data', (chunk) => (output += chunk));
  await once(lint, 'close');
  const lines = Array.from(output.matchAll(/probe\.ts:(\d+):\d+ plugin/g), ([, line]) => Number(line));
  return [...new Set(lines)].toSorted((a, b) => a - b);
}

test('only composition roots may take time, randomness or the network by themselves', async (t) => {
  const content = `${notPassedIn.join('\n')}\n`;
  const every = notPassedIn.map((_, index) => index + 1);
  t.deepEqual(await linesOutsideRuntime(t, 'src/events/probe.ts', content), every);
  t.deepEqual(await linesOutsideRuntime(t, 'packages/projections/probe.ts', content), every);
  t.deepEqual(await linesOutsideRuntime(t, 'src/roles/probe.ts', content), []);
});
