/** What the process does that children.ts starts for a requested rebuild. */
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { RebuildInterrupted, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import type { Config } from '../config/config.ts';
import { allProjections } from '../projections/all.ts';
import { describeRebuildFailure, rebuildAsRequested } from '../reactors/projection-requests/perform.ts';
import { openStores } from './stores.ts';

/** Sent to the process as a message, because everyone on the machine can read its arguments. */
export type RebuildTask = { projection: string } & Pick<
  Config,
  'esdbUrl' | 'databaseUrl' | 'dataKeys' | 'logLevel'
>;

/** Another process has begun the rebuild meanwhile. */
export const underWayExitCode = 3;

/** Resolves to the exit code of the process, 0 if the request has ended. When the signal aborts, the request stays open. */
export async function performRebuildTask(
  task: RebuildTask,
  { log, runtime, signal }: { log: Log; runtime: Runtime; signal: AbortSignal },
): Promise<number> {
  const { projection: name } = task;
  const stores = openStores(task, log, runtime);
  try {
    const projection = allProjections.find((each) => each.name === name);
    if (projection) await rebuildAsRequested({ ...stores, projection, signal });
    return 0;
  } catch (error) {
    if (error instanceof RebuildUnderWay) return underWayExitCode;
    if (!(error instanceof RebuildInterrupted))
      log.warn({ projection: name, reason: describeRebuildFailure(error) }, 'a rebuild was interrupted');
    return 1;
  } finally {
    await stores.stop();
  }
}
