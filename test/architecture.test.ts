// The import rules of .dependency-cruiser.cjs catch each arrow that once led from one part of http/ into another, and the
// lint rule runtime-only.grit catches each way to time, randomness and the network that is not passed in.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { cruise, type ICruiseResult } from 'dependency-cruiser';

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
const { tsConfig: _, ...cruiseOptions } = options;

/** Each with the name of the rule that catches it. */
const arrows: [from: string, to: string, rule: string][] = [
  ['server/context.ts', 'console/frame/staff.ts', 'src/http/server-imports'],
  ['server/errors.ts', 'console/frame/present-error.ts', 'src/http/server-imports'],
  ['server/security-headers.ts', 'console/frame/addresses.ts', 'src/http/server-imports'],
  ['console/routes.ts', 'docs/routes.ts', 'src/http/console-imports'],
  ['pay/choose-method.ts', 'generic/payment-request-form.ts', 'src/http/pay-imports'],
  ['pay/request-fields.ts', 'openapi/document.ts', 'src/http/pay-imports'],
  ['server/views.ts', 'pay/texts.ts', 'src/http/server-imports'],
  ['server/request-log.ts', 'api/errors.ts', 'src/http/server-imports'],
  ['generic/request.ts', 'landreg/request.ts', 'src/http/generic-imports'],
];

/** The violations in a program of these files alone: `from → to`, by rule. */
async function violationsIn(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
): Promise<[rule: string, arrow: string][]> {
  const baseDir = await mkdtemp(join(tmpdir(), 'ledger-architecture-'));
  t.teardown(() => rm(baseDir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    const path = join(baseDir, 'src/http', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const { output } = await cruise(['src'], {
    ...cruiseOptions,
    baseDir,
    validate: true,
    ruleSet: { forbidden },
  });
  const { violations } = (output as ICruiseResult).summary;
  return violations.map(({ rule, from, to }) => [
    rule.name,
    [from, to].map((path) => path.replace('src/http/', '')).join(' → '),
  ]);
}

for (const [from, to, rule] of arrows)
  test(`${from} may not import ${to}`, async (t) => {
    const files = {
      [to]: 'export const it = 1;\n',
      [from]: `import type { it } from '../${to}';\nexport type It = typeof it;\n`,
    };
    t.deepEqual(await violationsIn(t, files), [[rule, `${from} → ${to}`]]);
  });

test('what the rules allow is no violation', async (t) => {
  const files = {
    'server/errors.ts': 'export const it = 1;\n',
    'pay/check.ts': "import { it } from '../server/errors.ts';\nexport const again = it;\n",
    'generic/routes.ts': "import { again } from '../pay/check.ts';\nexport const routes = again;\n",
    'app.ts': "import { routes } from './generic/routes.ts';\nexport const app = routes;\n",
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
