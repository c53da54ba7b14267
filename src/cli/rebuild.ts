/** `ledger rebuild`: rebuilds read models from the log while they serve, or compares them with freshly made rows. */
import { constants, setPriority } from 'node:os';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { RebuildInterrupted, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { projectionStream } from '../events/rebuild.ts';
import { allProjections } from '../projections/all.ts';
import {
  createExecuteRebuild,
  describeRebuildFailure,
  rebuildOnRecord,
} from '../reactors/rebuilds/perform.ts';
import { createToDoList, toDoList } from '../to-do/projection.ts';
import { requeries, requeryList } from '../to-do/requeries.ts';
import { type CommandOf, UsageError } from './command.ts';
import { openRebuildProgress } from './progress.ts';
import { type ContextWithDatabase, fail, print, staffCause, withStores } from './stores.ts';

/** How many differing rows are printed for each projection. */
const maxShown = 50;

export const rebuild: CommandOf<'rebuild'> = async ({ 'dry-run': isDry, parked: isForParked }, names) => {
  if (isForParked) return await withStores('rebuild', { uses: ['dataKeys'] }, tryAllParkedAgain);
  const chosen = choose(names);
  setPriority(constants.priority.PRIORITY_LOW);
  const interrupt = new AbortController();
  const { signal } = interrupt;
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130));
    interrupt.abort();
  });
  return await withStores('rebuild', { uses: ['dataKeys'] }, async (stores) => {
    let exitCode = 0;
    for (const projection of chosen) {
      const work = isDry ? compareOne : rebuildOne;
      exitCode = Math.max(exitCode, await work(projection, { ...stores, signal }));
      if (signal.aborted) break;
    }
    if (!signal.aborted) return exitCode;
    const again = ['ledger rebuild', ...(isDry ? ['--dry-run'] : []), ...names].join(' ');
    const rest = isDry ? 'compares from the start' : 'goes on from there';
    process.stderr.write(`Interrupted. \`${again}\` ${rest}.\n`);
    return 130;
  });
};

/** In all read models and to-do lists. Resolves to the exit code, which is 1 if streams are still parked. */
async function tryAllParkedAgain(stores: ContextWithDatabase<'dataKeys'>): Promise<number> {
  let left = 0;
  for (const projection of [...allProjections, createToDoList(stores).projection, requeries])
    for (const each of await tryParkedAgain({ ...stores, projection, schema: projection.name })) {
      left += 1;
      print(`${projection.name}: ${each.stream} revision ${each.revision} (${each.type}): ${each.message}`);
    }
  print(left === 0 ? 'Nothing is parked.' : `Parked: ${left}.`);
  return left === 0 ? 0 : 1;
}

function choose(names: readonly string[]): readonly Projection[] {
  for (const { name } of [toDoList, requeryList])
    if (names.includes(name))
      throw new UsageError(
        `${name} is the to-do list of the reactors and no read model: it is never rebuilt`,
      );
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`There is no projection ${unknown}; there are ${known.join(', ')}`);
  return names.length === 0 ? allProjections : allProjections.filter(({ name }) => names.includes(name));
}

type Run = ContextWithDatabase<'dataKeys'> & { signal: AbortSignal };

async function rebuildOne(projection: Projection, run: Run): Promise<number> {
  const { name } = projection;
  const execute = createExecuteRebuild(run.eventStore);
  const stream = projectionStream(name);
  const progress = openRebuildProgress(name);
  const now = () => run.runtime.now().toISOString();
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
    }).finally(progress.end);
    const seconds = (durationMs / 1000).toFixed(1);
    print(`${name}: made from ${events.toLocaleString('en')} events in ${seconds} s, and serving.`);
    return 0;
  } catch (error) {
    if (error instanceof RebuildUnderWay)
      return fail(`${error.message}; /console/projections shows its progress.`);
    const isInterrupted = error instanceof RebuildInterrupted;
    const reason = isInterrupted ? 'It was interrupted' : describeRebuildFailure(error);
    if (!isInterrupted) process.stderr.write(`${name}: ${reason}. The existing tables go on serving.\n`);
    // Otherwise the projections role would perform the request.
    if (begun) await execute(stream, { type: 'FailRebuild', at: now(), reason }, staffCause());
    return 1;
  }
}

async function compareOne(projection: Projection, run: Run): Promise<number> {
  const { name } = projection;
  const progress = openRebuildProgress(name);
  try {
    const { rows, differences, more } = await compareWithFresh({
      ...run,
      projection,
      onProgress: progress.show,
      limit: maxShown,
    }).finally(progress.end);
    for (const { table, key, kind, columns } of differences)
      print(`${name}: ${[table, key, kind, columns.join(', ')].filter(Boolean).join(' ')}`);
    if (more > 0) print(`${name}: and ${more.toLocaleString('en')} more`);
    const count = differences.length + more;
    const verdict = count === 0 ? 'none differs' : `${count.toLocaleString('en')} differ`;
    print(`${name}: of ${rows.toLocaleString('en')} rows ${verdict}.`);
    return count === 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof RebuildInterrupted) return 1;
    const reason = error instanceof RebuildUnderWay ? error.message : describeRebuildFailure(error);
    return fail(`${name}: ${reason}.`);
  }
}
