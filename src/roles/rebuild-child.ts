/** The process in which children.ts has a rebuild done. */
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { createLog } from '@ledger/kernel/log.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { performRebuildTask, type RebuildTask } from './rebuild-task.ts';

const interrupt = new AbortController();
// Ctrl-C in a terminal also reaches this process; its parent decides when it ends.
process.on('SIGINT', () => undefined);
process.once('SIGTERM', () => interrupt.abort());
process.once('disconnect', () => interrupt.abort());
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const [task] = (await once(process, 'message')) as [RebuildTask];
const log = createLog(task.logLevel, 'rebuild');
const { signal } = interrupt;
process.exitCode = await performRebuildTask(task, { log, runtime: systemRuntime, signal });
if (process.connected) process.disconnect();
