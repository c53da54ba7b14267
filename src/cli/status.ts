/** `ledger status`: shows what is running, how far behind it is, and what needs staff. */
import { join } from 'node:path';
import { refusal } from '@ledger/event-store/requirements.ts';
import { readIfThere } from '@ledger/kernel/whole-file.ts';
import { candidaciesFor } from '@ledger/postgres/leader-locks.ts';
import type { Knex } from 'knex';
import program from '../../package.json' with { type: 'json' };
import { type CheckOutcome, lastCheck } from '../audit/background-check/schedule.ts';
import { readLastSeal } from '../audit/seals/find-seals.ts';
import { unsealed } from '../audit/seals/sealing-status.ts';
import { renderText } from '../common/templates.ts';
import { answersFrom, createLook } from '../monitoring/health.ts';
import { readDisk, waitingDeliveries } from '../monitoring/metric-sources.ts';
import { erasedKeysList } from '../personal-data/erased-keys.ts';
import { allProjections } from '../projections/all.ts';
import { countOpenExceptions } from '../projections/exceptions/queries.ts';
import { askedOfStream } from '../roles/stores.ts';
import { deliveryList } from '../to-do/delivery-list.ts';
import { requeryList } from '../to-do/requery-list.ts';
import { lastBackupFile } from './backup.ts';
import type { CommandOf } from './command.ts';
import { type Context, withStores } from './stores.ts';

/** Connecting counts too, and the machine may be busy. */
const lookWithinMs = 4_000;
const exitCodeOf = { ok: 0, degraded: 1, error: 75 } as const;

export const command: CommandOf<'status'> = async () =>
  await withStores('status', { onlyReads: true, needs: [] }, async (stores) => {
    const found = await readStatus(stores);
    return { data: found, text: statusText(found), exitCode: exitCodeOf[found.status] };
  });

/** What cannot be found out is null. */
async function readStatus({ clock, config, db, eventStore, log, runtime }: Context) {
  await clock.start();
  const isDiskFull = () =>
    refusal(config.esdbUrl, runtime, askedOfStream).then(
      (refused) => refused === 'room',
      () => false,
    );
  const look = createLook({
    eventStore: { ...eventStore, isDiskFull },
    projections: [...allProjections, erasedKeysList, deliveryList, requeryList],
    ...answersFrom(db),
    // The roles report the clocks of their own machines.
    clockDifferenceMs: () => null,
    answerWithinMs: lookWithinMs,
    runtime,
    log,
  });
  const { at, status, projections, ...health } = await look();
  const isUp = { eventStore: health.eventStore !== 'down', postgres: health.postgres !== 'down' };
  const orNull = <Found>(canKnow: boolean, found: () => Promise<Found>): Promise<Found | null> =>
    canKnow ? found().catch(() => null) : Promise.resolve(null);
  const signal = runtime.timeout(lookWithinMs);
  const names = projections.map(({ name }) => name);
  const [exceptions, deliveries, processes, versionOfPostgres, check, verify, seal, open] = await Promise.all(
    [
      orNull(isUp.postgres, () => countOpenExceptions(db, null)),
      orNull(isUp.postgres, () => waitingDeliveries(db, runtime).then(sumsOf)),
      orNull(isUp.postgres, () => readProcesses(db, names)),
      orNull(isUp.postgres, () => versionOf(db)),
      orNull(isUp.postgres, () => lastCheck(db).then(summaryOf)),
      orNull(isUp.postgres, () => lastCheck(db, 'verify').then(summaryOf)),
      orNull(isUp.eventStore, () => readLastSeal(eventStore)),
      orNull(isUp.eventStore && isUp.postgres, () => unsealed(eventStore, db, { now: at, signal })),
    ],
  );
  return {
    status,
    at: at.toISOString(),
    version: program.version,
    node: process.version,
    eventStore: health.eventStore,
    postgres: health.postgres,
    versionOfPostgres,
    processes,
    projections,
    exceptions,
    deliveries,
    lastSeal: seal && { at: seal.at, events: seal.count },
    unsealedSince: open && 'since' in open ? open.since.toISOString() : null,
    sealingRefused: open && 'reason' in open ? open.reason : null,
    lastCheck: check,
    lastVerify: verify,
    /** The time of the last `ledger backup` of this data folder. */
    lastBackup: (await readIfThere(join(config.dataDir, lastBackupFile)))?.trim() ?? null,
    disk: await readDisk(config.dataDir),
  };
}

/**
 * The processes that follow the log, each with what it leads of these projections. `name` is the id of its session in
 * PostgreSQL. A process that only answers HTTP is not among them.
 */
async function readProcesses(db: Knex, names: readonly string[]) {
  const found = Map.groupBy(await candidaciesFor(db, names), ({ process }) => process);
  return [...found].toSorted().map(([name, candidacies]) => ({
    name,
    leads: candidacies.filter(({ leads }) => leads).map((each) => each.name),
  }));
}

async function versionOf(db: Knex): Promise<string> {
  const { rows } = await db.raw<{ rows: [{ server_version: string }] }>('show server_version');
  return rows[0].server_version;
}

function sumsOf(rows: Awaited<ReturnType<typeof waitingDeliveries>>): { due: number; givenUp: number } {
  const sumOf = (name: 'due' | 'givenUp') => rows.reduce((sum, row) => sum + row[name], 0);
  return { due: sumOf('due'), givenUp: sumOf('givenUp') };
}

const summaryOf = (outcome: CheckOutcome | null) =>
  outcome && {
    at: outcome.at,
    violations: outcome.violations.reduce((sum, { count }) => sum + count, 0),
  };

function statusText(found: Awaited<ReturnType<typeof readStatus>>): string {
  const { exceptions, projections } = found;
  const upToDate = projections.filter(({ parked, status }) => status === 'ok' && parked === 0);
  const open = Object.entries(exceptions ?? {}).filter(([, count]) => count > 0);
  return renderText('status.txt', {
    ...found,
    upToDate: upToDate.map(({ name }) => name),
    others: projections.filter((each) => !upToDate.includes(each)),
    open: open.map(([name, count]) => `${name} ${count.toLocaleString('en')}`),
  });
}
