/** Runs seeds one after the other, and reports. */

import { makePlan } from './plan.ts';
import { simulate } from './simulate.ts';
import { installEventStoreClient } from './stores/event-store-client.ts';
import { startPostgresServer } from './stores/postgres-server.ts';

export type Options = {
  seed?: string | undefined;
  seeds?: string | undefined;
  minutes?: string | undefined;
  payments?: string | undefined;
  history?: boolean | undefined;
  all?: boolean | undefined;
};

export async function run(options: Options): Promise<number> {
  installEventStoreClient();
  const server = await startPostgresServer();
  const first = Number(options.seed ?? 1);
  const count = Number(options.seeds ?? 1);
  const payments = Number(options.payments ?? 100);
  for (let seed = first; seed < first + count; seed += 1) {
    const startedMs = performance.now();
    const plan = makePlan(seed, { payments });
    const result = await simulate(plan, server);
    if (options.history) process.stdout.write(`${result.lines.join('\n')}\n`);
    const { violations, digest, simulatedMs, steps, queries, events, posts, requeries, charges } = result;
    const wall = Math.round(performance.now() - startedMs);
    const kinds = [...new Set(plan.faults.map(({ kind }) => kind))].join(' ');
    process.stdout.write(
      `seed ${seed} ${digest} ${wall} ms wall, ${(simulatedMs / 3_600_000).toFixed(1)} h, ${steps} steps, ${queries} queries, ${events} events, ${charges} charges, ${posts} posts, ${requeries} asked; x${plan.stretch} ${plan.http}/${plan.projections}/${plan.reactors}/${plan.eventStores} [${kinds}]\n`,
    );
    for (const { invariant, about, text } of violations)
      process.stdout.write(`    ${invariant}: ${about}: ${text.slice(0, 300)}\n`);
  }
  await server.stop();
  return 0;
}
