/** `ledger rebuild`: rebuilds read models from the log while they serve, or compares them with freshly made rows. */
import { constants, setPriority } from 'node:os';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import { RebuildInterrupted, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { tryParkedAgain } from '@ledger/projections/runtime/parking.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { differenceText } from '../audit/verify/read-models.ts';
import { createErasedKeys } from '../personal-data/erased-keys.ts';
import { allProjections } from '../projections/all.ts';
import {
  describeRebuildFailure,
  rebuildAsRequested,
  rebuildOnRecord,
} from '../reactors/projection-requests/perform.ts';
import { onSignals } from '../roles/lifecycle.ts';
import { createDeliveryList, deliveryList } from '../to-do/delivery-list.ts';
import { requeryList } from '../to-do/requery-list.ts';
import { type CommandOf, type Report, UsageError } from './command.ts';
import { exitCodeOf } from './failure-text.ts';
import { openRebuildProgress } from './progress.ts';
import { type Context, fail, staffCause, withStores } from './stores.ts';

const needs = { uses: ['dataKeys'] } as const;

export const command: CommandOf<'rebuild'> = async (options, names) => {
  const { 'dry-run': isDry, parked: isForParked, requested: isRequested } = options;
  if (isForParked && (isDry || names.length > 0))
    throw new UsageError('--parked takes no projection and no --dry-run');
  if (isRequested && (isDry || isForParked)) throw new UsageError('--requested takes no other option');
  if (isForParked) return await withStores('rebuild', needs, tryAllParkedAgain);
  const chosen = choose(names);
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const interrupt = new AbortController();
  const { signal } = interrupt;
  if (isRequested)
    return await withStores('rebuild', needs, async (stores) => {
      // A signal ends the process as a crash does: requests stay open, and the next process continues.
      for (const projection of chosen) await rebuildAsRequested({ ...stores, projection, signal });
      return 0;
    });
  onSignals(['SIGINT'], { stop: () => interrupt.abort(), exitCode: 130 });
  return await withStores('rebuild', needs, async (stores) => {
    const reports: Report[] = [];
    for (const projection of chosen) {
      const work = isDry ? compareOne : rebuildOne;
      reports.push(await work(projection, { ...stores, signal }));
      if (signal.aborted) break;
    }
    const report = {
      data: reports.map(({ data }) => data),
      text: reports.flatMap(({ text }) => text || []).join('\n'),
      exitCode: reports.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0,
    };
    if (!signal.aborted) return report;
    const again = ['ledger rebuild', ...(isDry ? ['--dry-run'] : []), ...names].join(' ');
    const rest = isDry ? 'compares from the start' : 'continues from there';
    process.stderr.write(`Interrupted. \`${again}\` ${rest}.\n`);
    return { ...report, exitCode: 130 };
  });
};

/** In all read models and to-do lists. The exit code is 1 if streams are still parked. */
async function tryAllParkedAgain(stores: Context<'dataKeys'>): Promise<Report> {
  const data: object[] = [];
  const lines: string[] = [];
  const erasedKeys = createErasedKeys({ ...stores, store: stores.personalData.store });
  const deliveries = createDeliveryList(stores);
  for (const projection of [...allProjections, deliveries, requeryList, erasedKeys])
    for (const each of await tryParkedAgain({ ...stores, projection, schema: projection.name })) {
      const { message, revision, stream, type } = each;
      data.push({ projection: projection.name, stream, revision, type, message });
      lines.push(`${projection.name}: ${stream} revision ${revision} (${type}): ${message}`);
    }
  const left = data.length;
  lines.push(left === 0 ? 'Nothing is parked.' : `Parked: ${left}.`);
  return { data, text: lines.join('\n'), exitCode: left === 0 ? 0 : 1 };
}

function choose(names: readonly string[]): readonly Projection[] {
  for (const { name } of [deliveryList, requeryList])
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

type Run = Context<'dataKeys'> & { signal: AbortSignal };

async function rebuildOne(projection: Projection, run: Run): Promise<Report> {
  const { name } = projection;
  const progress = openRebuildProgress(name);
  try {
    const { events, durationMs } = await rebuildOnRecord({
      ...run,
      projection,
      requestCause: staffCause,
      onProgress: progress.show,
    }).finally(progress.end);
    const seconds = (durationMs / 1000).toFixed(1);
    return {
      data: { projection: name, events, durationMs },
      text: `${name}: made from ${events.toLocaleString('en')} events in ${seconds} s, and serving.`,
      exitCode: 0,
    };
  } catch (error) {
    if (error instanceof RebuildUnderWay)
      return failed(name, `${error.message}; /console/projections shows its progress.`);
    const reason = describeRebuildFailure(error);
    return failed(name, `${reason}. The existing tables stay in use.`, exitCodeOf(error));
  }
}

async function compareOne(projection: Projection, run: Run): Promise<Report> {
  const { name } = projection;
  const progress = openRebuildProgress(name);
  try {
    const { rows, differences, more } = await compareWithFresh({
      ...run,
      projection,
      onProgress: progress.show,
      limit: 50,
    }).finally(progress.end);
    const lines = differences.map((each) => `table ${each.table}: ${differenceText(each)}`);
    if (more > 0) lines.push(`and ${more.toLocaleString('en')} more`);
    const count = differences.length + more;
    const verdict = count === 0 ? 'none differs' : `${count.toLocaleString('en')} differ`;
    lines.push(`of ${rows.toLocaleString('en')} rows ${verdict}.`);
    return {
      data: { projection: name, rows, differ: count, differences },
      text: lines.map((line) => `${name}: ${line}`).join('\n'),
      exitCode: count === 0 ? 0 : 1,
    };
  } catch (error) {
    if (error instanceof RebuildInterrupted) return failed(name, 'It was interrupted.');
    const reason = error instanceof RebuildUnderWay ? error.message : describeRebuildFailure(error);
    return failed(name, `${reason}.`, exitCodeOf(error));
  }
}

function failed(projection: string, reason: string, exitCode = 1): Report {
  fail(`${projection}: ${reason}`);
  return { data: { projection, failed: reason }, text: '', exitCode };
}
