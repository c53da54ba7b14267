/** Assembles what a process shows of itself on its admin port: content/docs/monitoring.md. */
import { namingHost } from '@ledger/kernel/http-server.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { recordSpansWith } from '@ledger/kernel/tracing.ts';
import { startAdminServer } from '@ledger/observability/admin-server.ts';
import { createMetrics, type GaugeSource } from '@ledger/observability/metrics.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import gauges from '../../content/metrics.json' with { type: 'json' };
import program from '../../package.json' with { type: 'json' };
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import { configurationFingerprints } from '../config/fingerprints.ts';
import { createCounters } from '../monitoring/counters.ts';
import { answersFrom, createLook, type Look } from '../monitoring/health.ts';
import { createSources } from '../monitoring/metric-sources.ts';
import { erasedKeysList } from '../personal-data/erased-keys.ts';
import { allProjections } from '../projections/all.ts';
import { deliveryList } from '../to-do/delivery-list.ts';
import { requeryList } from '../to-do/requery-list.ts';
import type { RoleDependencies } from './stores.ts';

export const { version } = program;

/** The projections that a role runs, without which it cannot do its work; and what it measures, beside its machine. */
const work = {
  http: { follows: [], measures: [] },
  projections: {
    follows: [...allProjections, erasedKeysList],
    measures: ['projections', 'exceptions', 'seals', 'check', 'erasures'],
  },
  reactors: { follows: [deliveryList, requeryList], measures: ['projections', 'deliveries', 'requeries'] },
} as const;
export type RoleName = keyof typeof work;

type State = 'starting' | 'running' | 'stopping';

/** `name` is the process as its metrics name it; `roles` are those that it runs. Over 70 lines: it puts the parts together. */
export async function startMonitoring<Role extends RoleDependencies>(
  role: Role,
  { name, roles }: { name: string; roles: readonly RoleName[] },
) {
  const { clock, config, eventStore, log, personalData, runtime } = role;
  const tracing = await startTracing(config.otlpEndpoint, name);
  const db = connectPostgres({ url: config.databaseUrl, log });
  const projections = roles.flatMap((each) => [...work[each].follows]);
  const watched = {
    eventStore,
    projections,
    ...answersFrom(db),
    clockDifferenceMs: clock.differenceMs,
    witnesses: config.witnessUrls.length,
    runtime,
  };
  const look = createLook({ ...watched, log });
  let state: State = 'starting';
  const needsPostgres = roles.some((each) => each !== 'http');
  const reasonsOf = (found: Look) => reasonsAgainst(found, { state, needsPostgres });
  const metrics = createMetrics({
    role: name,
    runtime,
    onFailure: (source, error) =>
      log.warn({ source, reason: briefReasonOf(error) }, 'metrics could not be read from their source'),
  });
  const add = (source: keyof typeof gauges, read: GaugeSource['read']) =>
    metrics.addSource({ ...gauges[source], name: source, read });
  add('readiness', async () => {
    const found = await look();
    return [
      ['ledger_ready', reasonsOf(found).length === 0 ? 1 : 0],
      ['ledger_event_store_up', found.eventStore === 'up' ? 1 : 0],
      ['ledger_postgres_up', found.postgres === 'up' ? 1 : 0],
      ['ledger_configuration_refused', config.refused.length > 0 ? 1 : 0],
      ['ledger_data_keys_unstored', personalData.unstored()],
    ];
  });
  add('configuration', async () => configurationFingerprints(config));
  const sources = createSources({ ...watched, db, folder: config.dataDir });
  for (const source of new Set(['machine' as const, ...roles.flatMap((each) => work[each].measures)]))
    add(source, sources[source]);

  const server = await startAdminServer({
    ...config.admin,
    async readiness() {
      const { status: health, at, ...found } = await look();
      const reasons = reasonsOf({ status: health, at, ...found });
      return { reasons, role: name, version, timestamp: toIsoWithOffset(at.toISOString()), health, ...found };
    },
    metrics,
    onError: (error) => log.warn({ reason: reasonOf(error) }, 'the admin port could not answer'),
  }).catch((error) => {
    throw namingHost(error, 'ADMIN_HOST');
  });
  log.info({ address: `http://${config.admin.host}:${server.port}` }, 'admin port listening');
  const { watch, ...counts } = createCounters(metrics.registers, runtime);
  return {
    /** What the roles are started with, so that their work is counted. */
    role: { ...role, eventStore: watch(eventStore), ...counts },
    port: server.port,
    /** What `/readyz` says from now on. */
    enter(next: State): void {
      state = next;
    },
    async stop(): Promise<void> {
      server.close();
      await Promise.all([db.destroy(), tracing?.stop()]);
    },
  };
}

/** Why a process cannot do its work. */
function reasonsAgainst(
  { eventStore, postgres, projections }: Look,
  { state, needsPostgres }: { state: State; needsPostgres: boolean },
): string[] {
  return [
    ...(state === 'running' ? [] : [`the process is ${state}`]),
    ...(eventStore === 'up' ? [] : [`event store: ${eventStore}`]),
    ...(postgres === 'up' || !needsPostgres ? [] : [`postgres: ${postgres}`]),
    ...projections
      .filter(({ status }) => status === 'stopped')
      .map(({ name, fault }) => `projection ${name}: ${fault}`),
  ];
}

/** Nothing of OpenTelemetry is loaded without an endpoint. */
async function startTracing(endpoint: string, name: string) {
  if (endpoint === '') return null;
  const { startTracing } = await import('@ledger/observability/tracing.ts');
  const tracing = startTracing({ endpoint, service: `payment-ledger-${name}`, version });
  recordSpansWith(tracing.span);
  return tracing;
}
