// Runs all benchmarks and prints a table for each, beside the figures of the baseline file. Figures are CPU time where
// they can be, because machines differ and are noisy. Exit code 1: a target is missed.
// npm run bench [name…] [-- --peers] [-- --save], which writes the baseline
import { readFileSync, writeFileSync } from 'node:fs';
import { benchAttack } from './attack.ts';
import { benchCallbacks } from './callbacks.ts';
import { benchDocs } from './docs.ts';
import { benchEventStore } from './eventstore.ts';
import { benchHttp } from './http.ts';
import { benchLife } from './life.ts';
import { benchPdf } from './pdf.ts';
import { benchRebuild } from './rebuild.ts';
import { isMet, type Row } from './row.ts';
import { benchScale } from './scale.ts';
import { benchService } from './service.ts';
import { benchSize } from './size.ts';
import { benchVerify } from './verify.ts';

const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  eventstore: benchEventStore,
  http: benchHttp,
  life: benchLife,
  service: benchService,
  callbacks: benchCallbacks,
  scale: benchScale,
  size: benchSize,
  docs: benchDocs,
  pdf: benchPdf,
  rebuild: benchRebuild,
  verify: benchVerify,
  attack: benchAttack,
};

const baselineFile = new URL('baseline.json', import.meta.url);
const baseline: Record<string, Record<string, number>> = JSON.parse(readFileSync(baselineFile, 'utf8'));

const asked = process.argv.slice(2).filter((each) => !each.startsWith('--'));
for (const name of asked.length > 0 ? asked : Object.keys(benchmarks)) {
  const benchmark = benchmarks[name];
  if (!benchmark) throw new Error(`No benchmark ${name}; there are ${Object.keys(benchmarks).join(', ')}`);
  process.stdout.write(`\n${name}\n`);
  const rows = await benchmark();
  for (const row of rows) process.stdout.write(`${line(row, baseline[name]?.[row.name])}\n`);
  if (!rows.every(isMet)) process.exitCode = 1;
  baseline[name] = Object.fromEntries(rows.map((row) => [row.name, Number(row.value.toPrecision(4))]));
}
if (process.argv.includes('--save')) writeFileSync(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);

function line(row: Row, before: number | undefined): string {
  const { name, value, unit, ratio, target, note } = row;
  const figure = value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  const change = before ? `${(((value - before) / before) * 100).toFixed(0)} %` : '';
  return [
    `  ${name.padEnd(50)}${figure.padStart(10)} ${unit.padEnd(12)}`,
    change.padStart(7),
    (ratio === undefined ? '' : `  ratio ${ratio.toFixed(2)}`).padEnd(14),
    target === undefined ? '' : `  ${isMet(row) ? 'met' : 'MISSED'}: ${target}`,
    note === undefined ? '' : `  without: ${note}`,
  ]
    .join('')
    .trimEnd();
}
