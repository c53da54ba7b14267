// Runs all benchmarks and prints a table for each. Ratios are within one run, because machines differ and are noisy.
// npm run bench [name…]
import { benchAttack } from './attack.ts';
import { benchCallbacks } from './callbacks.ts';
import { benchDocs } from './docs.ts';
import { benchEventStore } from './eventstore.ts';
import { benchHttp } from './http.ts';
import { benchPdf } from './pdf.ts';
import { benchRebuild } from './rebuild.ts';
import type { Row } from './row.ts';

const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  eventstore: benchEventStore,
  http: benchHttp,
  callbacks: benchCallbacks,
  docs: benchDocs,
  pdf: benchPdf,
  rebuild: benchRebuild,
  attack: benchAttack,
};

const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(benchmarks)) {
  const benchmark = benchmarks[name];
  if (!benchmark) throw new Error(`No benchmark ${name}; there are ${Object.keys(benchmarks).join(', ')}`);
  process.stdout.write(`\n${name}\n`);
  for (const row of await benchmark()) process.stdout.write(`${line(row)}\n`);
}

function line({ name, value, unit, ratio, target }: Row): string {
  const figure = value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
  return [
    `  ${name.padEnd(46)}${figure.padStart(10)} ${unit.padEnd(12)}`,
    ratio === undefined ? '' : `ratio ${ratio.toFixed(2)}`.padEnd(14),
    target === undefined ? '' : `(target ${target})`,
  ]
    .join('')
    .trimEnd();
}
