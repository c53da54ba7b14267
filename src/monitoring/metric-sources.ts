/** What a process measures when somebody asks for its metrics: a function for each subject of content/metrics.json. */
import { statfs } from 'node:fs/promises';
import type { GaugeSource, Reading } from '@ledger/observability/metrics.ts';
import { rowsWithin } from '@ledger/postgres/error-codes.ts';
import { selectionOf } from '@ledger/projections/runtime/projection.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { Knex } from 'knex';
import { lastCheck } from '../audit/background-check/schedule.ts';
import { unsealed, witnessesMissing } from '../audit/seals/sealing-status.ts';
import { sqlOf } from '../common/sql.ts';
import { deliveryKinds } from '../events/deliveries.ts';
import { sealsStream } from '../events/seals.ts';
import { returnedKeys } from '../personal-data/erased-keys.ts';
import { countOpenExceptions } from '../projections/exceptions/queries.ts';
import type { LookDependencies } from './health.ts';

/** A projection that is further behind is being rebuilt or has stopped: how far behind it is does not matter then. */
const mostCounted = 1_000;

type Dependencies = Omit<LookDependencies, 'eventStore' | 'log' | 'sealingRefused'> &
  Pick<Stores<'eventsAfter' | 'firstAfter' | 'load' | 'loadLast'>, 'db' | 'eventStore'> & {
    /** On the disk that is measured. */
    folder: string;
    /** How many are to sign each seal. */
    witnesses: number;
  };

/** Over 70 lines: one function for each subject, and nothing else. */
export function createSources(dependencies: Dependencies) {
  const { db, eventStore, runtime } = dependencies;
  const secondsSince = (ms: number) => (runtime.now().getTime() - ms) / 1_000;

  return {
    async machine() {
      const differenceMs = dependencies.clockDifferenceMs();
      const disk = await readDisk(dependencies.folder);
      const readings: Reading[] = [];
      if (differenceMs !== null) readings.push(['ledger_clock_difference_seconds', differenceMs / 1_000]);
      if (disk) readings.push(['ledger_disk_free_bytes', disk.free], ['ledger_disk_size_bytes', disk.size]);
      return readings;
    },

    async projections(signal) {
      const statuses = await dependencies.projectionStatus();
      const ofEach = dependencies.projections.map(async (projection): Promise<Reading[]> => {
        const { name } = projection;
        const status = statuses.find((each) => each.name === name);
        const after = status?.position ?? null;
        const selection = { ...selectionOf(projection), after, signal };
        const untaken = await eventStore.eventsAfter(selection, mostCounted);
        const lag = untaken[0] ? secondsSince(untaken[0].created.getTime()) : 0;
        return [
          ['ledger_projection_lag_events', untaken.length, name],
          ['ledger_projection_lag_seconds', Math.max(0, lag), name],
          ['ledger_projection_stopped', !status || status.fault ? 1 : 0, name],
          ['ledger_projection_parked_streams', status?.parked.length ?? 0, name],
        ];
      });
      return (await Promise.all(ofEach)).flat();
    },

    async exceptions() {
      const counts = Object.entries(await countOpenExceptions(db, null));
      return counts.map(([kind, count]) => ['ledger_exceptions_open', count, kind]);
    },

    async seals(signal) {
      const ageOf = (since: Date) => Math.max(0, secondsSince(since.getTime()));
      const last = await eventStore.loadLast(sealsStream);
      const open = await unsealed(eventStore, db, { now: runtime.now(), signal });
      return [
        ...(last ? [['ledger_seal_age_seconds', ageOf(last.created)] as const] : []),
        ['ledger_unsealed_seconds', 'since' in open ? ageOf(open.since) : 0],
        ['ledger_seal_unaccountable', open.state === 'unaccountable' ? 1 : 0],
        ['ledger_witnesses_missing', last ? witnessesMissing(last, dependencies.witnesses) : 0],
      ];
    },

    async check() {
      const readings = async (name: 'check' | 'verify'): Promise<Reading[]> => {
        const last = await lastCheck(db, name);
        if (!last) return [];
        return [
          [`ledger_${name}_age_seconds`, secondsSince(Date.parse(last.at))],
          [`ledger_${name}_violations`, last.violations.reduce((sum, { count }) => sum + count, 0)],
        ];
      };
      return [...(await readings('check')), ...(await readings('verify'))];
    },

    async erasures() {
      return [['ledger_erased_keys_returned', (await returnedKeys(db))?.keys ?? 0]];
    },

    async deliveries() {
      const rows = await waitingDeliveries(db, runtime);
      return rows.flatMap(({ kind, due, givenUp, overdue }): Reading[] => [
        ['ledger_deliveries_due', due, kind],
        ['ledger_deliveries_oldest_due_seconds', overdue, kind],
        ['ledger_deliveries_given_up', givenUp, kind],
      ]);
    },

    async requeries() {
      type Row = { due: number; overdue: number; open: number };
      const [row] = await rowsWithin<Row>(5_000, db, sqlOf('waiting-requeries'), { now: runtime.now() });
      return [
        ['ledger_requeries_due', row?.due ?? 0],
        ['ledger_requeries_oldest_due_seconds', row?.overdue ?? 0],
        ['ledger_open_attempt_oldest_seconds', row?.open ?? 0],
      ];
    },
  } satisfies Record<string, GaugeSource['read']>;
}

/** The deliveries of each kind that are due or given up; `overdue` is in seconds. */
export async function waitingDeliveries(db: Knex, runtime: Pick<Dependencies['runtime'], 'now'>) {
  type Row = { kind: string; due: number; givenUp: number; overdue: number };
  const rows = await rowsWithin<Row>(5_000, db, sqlOf('waiting-deliveries'), { now: runtime.now() });
  const none = { due: 0, givenUp: 0, overdue: 0 };
  return deliveryKinds.map((kind) => ({ kind, ...(rows.find((each) => each.kind === kind) ?? none) }));
}

/** The disk of a folder, in bytes; null if it cannot be looked at. */
export async function readDisk(
  folder: string,
): Promise<{ folder: string; free: number; size: number } | null> {
  const disk = await statfs(folder).catch(() => null);
  return disk && { folder, free: disk.bavail * disk.bsize, size: disk.blocks * disk.bsize };
}
