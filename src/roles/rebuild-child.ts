/** The process in which children.ts has a rebuild done. Exit code 0: the request has ended. */
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { createLog } from '@ledger/kernel/log.ts';
import { RebuildInterrupted, RebuildUnderWay } from '@ledger/projections/rebuild/rebuild.ts';
import { allProjections } from '../projections/all.ts';
import { describeRebuildFailure, rebuildAsRequested } from '../reactors/projection-requests/perform.ts';
import { type RebuildTask, underWayExitCode } from './children.ts';
import { openStores } from './stores.ts';

const interrupt = new AbortController();
// Ctrl-C in a terminal also reaches this process; its parent decides when it ends.
process.on('SIGINT', () => undefined);
process.once('SIGTERM', () => interrupt.abort());
process.once('disconnect', () => interrupt.abort());
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const [task] = (await once(process, 'message')) as [RebuildTask];
const { projection: name } = task;
const log = createLog(task.logLevel, 'rebuild');
const stores = openStores(task, log);
const { signal } = interrupt;
try {
  const projection = allProjections.find((each) => each.name === name);
  if (projection) await rebuildAsRequested({ ...stores, projection, signal });
} catch (error) {
  process.exitCode = error instanceof RebuildUnderWay ? underWayExitCode : 1;
  if (!(error instanceof RebuildUnderWay || error instanceof RebuildInterrupted))
    log.warn({ projection: name, reason: describeRebuildFailure(error) }, 'a rebuild was interrupted');
} finally {
  await stores.stop();
  if (process.connected) process.disconnect();
}
