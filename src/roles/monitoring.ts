/** Assembles what a process shows of itself on its admin port: content/docs/monitoring.md. */
import { readFileSync } from 'node:fs';
import { startAdminServer } from '../monitoring/admin-server.ts';
import { createLook, type Look } from '../monitoring/look.ts';
import { createMetrics } from '../monitoring/metrics.ts';
import { deliveries } from '../monitoring/sources/deliveries.ts';
import { projectionGauges } from '../monitoring/sources/projections.ts';
import { requeryBacklog } from '../monitoring/sources/requeries.ts';
import { seals } from '../monitoring/sources/seals.ts';
import { hourlyCheck, openExceptions } from '../monitoring/sources/staff.ts';
import { machine, readiness } from '../monitoring/sources/surroundings.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { allProjections } from '../projections/all.ts';
import { projectionStatus } from '../projections/runtime/checkpoints.ts';
import { toDoList } from '../to-do/projection.ts';
import { requeryList } from '../to-do/requeries.ts';
import type { RoleDependencies, Running } from './lifecycle.ts';

export const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

/** The projections that a role runs, without which it cannot do its work. */
const run = { http: [], projections: allProjections, reactors: [toDoList, requeryList] } as const;
export type RoleName = keyof typeof run;

export type Monitoring<Role> = Running & {
  /** What the roles are to be started with, so that they are seen. */
  role: Role;
  port: number;
  /** `/readyz` says so from now on. */
  is(state: 'running' | 'stopping'): void;
};

/** `name` is the process as its metrics name it; `roles` are those that it runs. */
export async function startMonitoring<Role extends RoleDependencies>(
  role: Role,
  { name, roles }: { name: string; roles: readonly RoleName[] },
): Promise<Monitoring<Role>> {
  const { clock, config, eventStore, log, runtime } = role;
  const db = connectPostgres({ url: config.databaseUrl, log });
  const metrics = createMetrics(name, { log, runtime });
  const projections = roles.flatMap((each) => [...run[each]]);
  const needsPostgres = roles.some((each) => each !== 'http');
  let state: 'starting' | 'running' | 'stopping' = 'starting';
  const look = createLook({
    eventStore,
    projections,
    projectionStatus: () => projectionStatus(db),
    clockDifferenceMs: clock.differenceMs,
    runtime,
    log,
  });
  const reasonsOf = (found: Look) => [
    ...(state === 'running' ? [] : [`the process is ${state}`]),
    ...(found.eventStore === 'up' ? [] : [`event store: ${found.eventStore}`]),
    ...(found.postgres === 'up' || !needsPostgres ? [] : [`postgres: ${found.postgres}`]),
    ...found.projections
      .filter(({ status }) => status === 'stopped')
      .map((each) => `projection ${each.name}: ${each.fault}`),
  ];
  metrics.addSource(readiness(look, reasonsOf));
  metrics.addSource(machine(clock.differenceMs, config.dataDir));
  if (projections.length > 0)
    metrics.addSource(
      projectionGauges({ eventStore, projections, projectionStatus: () => projectionStatus(db), runtime }),
    );
  if (roles.includes('projections')) {
    metrics.addSource(openExceptions(db));
    metrics.addSource(seals(eventStore, runtime));
    metrics.addSource(hourlyCheck(db, runtime));
  }
  if (roles.includes('reactors')) {
    metrics.addSource(deliveries(db, runtime));
    metrics.addSource(requeryBacklog(db, runtime));
  }
  const about = { role: name, version };
  const server = await startAdminServer({ ...config.admin, look, reasonsOf, metrics, about, log });
  return {
    role: { ...role, eventStore: metrics.watch(eventStore), countRequest: metrics.countRequest },
    port: server.port,
    is(now) {
      state = now;
    },
    async stop() {
      await server.stop();
      await db.destroy();
    },
  };
}
