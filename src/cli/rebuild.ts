/** `ledger rebuild`: makes read models anew from the log while they serve, or compares them with what it would make. */
import type { Config } from '../config/config.ts';
import { projectionStream } from '../events/rebuild.ts';
import { connectEventStore } from '../eventstore/client.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { createLog } from '../kernel/log.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { allProjections } from '../projections/all.ts';
import { compareWithFresh } from '../projections/rebuild/compare.ts';
import { RebuildInterrupted, type RebuildOptions, RebuildUnderWay } from '../projections/rebuild/rebuild.ts';
import type { Projection } from '../projections/runtime/projection.ts';
import { createExecuteRebuild, reasonOf, rebuildOnRecord } from '../reactors/rebuilds/perform.ts';
import { loadRoleConfig } from '../roles/role-config.ts';
import { type Command, lowerPriority, UsageError } from './command.ts';
import { openRebuildProgress } from './rebuild-progress.ts';
import { staffCause } from './staff.ts';

const options = { 'dry-run': { type: 'boolean' } } as const;

/** So many differences of a projection are shown. */
const maxShown = 50;

export const rebuild: Command<typeof options> = {
  summary: 'makes read models anew while they serve; with --dry-run compares them with what it would make',
  usage: '[projection…] [--dry-run]',
  options,
  takesArguments: true,
  async run({ 'dry-run': isDry }, names) {
    const chosen = choose(names);
    const config = loadRoleConfig();
    lowerPriority();
    const stores = connect(config);
    const interrupt = new AbortController();
    process.once('SIGINT', () => {
      process.once('SIGINT', () => process.exit(130));
      interrupt.abort();
    });
    const again = `ledger rebuild${isDry ? ' --dry-run' : ''}${names.map((name) => ` ${name}`).join('')}`;
    try {
      let exitCode = 0;
      for (const projection of chosen) {
        const work = isDry ? compareOne : rebuildOne;
        exitCode = Math.max(exitCode, await work(projection, { ...stores, signal: interrupt.signal }));
        if (interrupt.signal.aborted) break;
      }
      if (interrupt.signal.aborted) {
        const rest = isDry ? 'compares from the start' : 'goes on from there';
        process.stderr.write(`Interrupted. \`${again}\` ${rest}.\n`);
        return 130;
      }
      return exitCode;
    } finally {
      await Promise.all([stores.eventStore.close(), stores.db.destroy()]);
    }
  },
};

function choose(names: readonly string[]): readonly Projection[] {
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`There is no projection ${unknown}; there are ${known.join(', ')}`);
  return names.length === 0 ? allProjections : allProjections.filter(({ name }) => names.includes(name));
}

function connect({ esdbUrl, databaseUrl }: Config) {
  const log = createLog('warn', 'rebuild');
  return {
    eventStore: connectEventStore({ url: esdbUrl, log, runtime: systemRuntime }),
    db: connectPostgres({ url: databaseUrl, log }),
    databaseUrl,
    log,
  };
}

type Run = Omit<RebuildOptions, 'projection' | 'onProgress' | 'eventStore'> & { eventStore: EventStore };

/** Resolves to the exit code. */
async function rebuildOne(projection: Projection, run: Run): Promise<number> {
  const { name } = projection;
  const execute = createExecuteRebuild(run.eventStore);
  const stream = projectionStream(name);
  const progress = openRebuildProgress(name);
  const now = () => new Date().toISOString();
  let begun = false;
  try {
    const { events, durationMs } = await rebuildOnRecord({
      ...run,
      projection,
      cause: staffCause(),
      onProgress: progress.show,
      async onBegin() {
        begun = true;
        await execute(stream, { type: 'RequestRebuild', at: now(), projection: name }, staffCause());
      },
    });
    progress.end();
    const seconds = (durationMs / 1000).toFixed(1);
    process.stdout.write(
      `${name}: made from ${events.toLocaleString('en')} events in ${seconds} s, and serves.\n`,
    );
    return 0;
  } catch (error) {
    progress.end();
    if (error instanceof RebuildUnderWay) {
      process.stderr.write(`${error.message}; /console/projections shows how far it is.\n`);
      return 1;
    }
    const isInterrupted = error instanceof RebuildInterrupted;
    const reason = isInterrupted ? 'It was interrupted' : reasonOf(error);
    if (!isInterrupted) process.stderr.write(`${name}: ${reason}. The tables that were there serve on.\n`);
    // Else the role of projections would take it for its own to end.
    if (begun) await execute(stream, { type: 'FailRebuild', at: now(), reason }, staffCause());
    return 1;
  }
}

/** Likewise. */
async function compareOne(projection: Projection, run: Run): Promise<number> {
  const { name } = projection;
  const progress = openRebuildProgress(name);
  try {
    const compared = await compareWithFresh({
      ...run,
      projection,
      onProgress: progress.show,
      limit: maxShown,
    });
    progress.end();
    const { rows, differences, more } = compared;
    for (const { table, key, kind, columns } of differences)
      process.stdout.write(`${name}: ${[table, key, kind, columns.join(', ')].filter(Boolean).join(' ')}\n`);
    if (more > 0) process.stdout.write(`${name}: and ${more.toLocaleString('en')} more\n`);
    const count = differences.length + more;
    const verdict = count === 0 ? 'none differs' : `${count.toLocaleString('en')} differ`;
    process.stdout.write(`${name}: of ${rows.toLocaleString('en')} rows ${verdict}.\n`);
    return count === 0 ? 0 : 1;
  } catch (error) {
    progress.end();
    if (!(error instanceof RebuildInterrupted))
      process.stderr.write(
        `${name}: ${error instanceof RebuildUnderWay ? error.message : reasonOf(error)}.\n`,
      );
    return 1;
  }
}
