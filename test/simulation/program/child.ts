/** The process that the program starts for a requested rebuild, on the machine of the one that starts it. */
import { EventEmitter } from 'node:events';
import type { Log } from '@ledger/kernel/log.ts';
import { performRebuildTask, type RebuildTask } from '../../../src/roles/rebuild-task.ts';
import { createProcess, type SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';

/** How long the process takes until it reads its task. */
const startMs = 500;

/** What `fork` returns of Node's ChildProcess, as far as the program uses it. */
export function forkChild(
  parent: SimulatedProcess,
  file: string,
  {
    scheduler,
    random,
    log,
    onDied,
  }: {
    scheduler: Scheduler;
    random: Random;
    log: Log;
    /** An error that nobody caught has ended it. */
    onDied: (error: unknown) => void;
  },
) {
  if (!file.endsWith('/rebuild-child.ts')) throw new Error(`The simulator cannot start ${file}`);
  const { name, stretch } = parent;
  const onCrash = (_: unknown, error: unknown) => {
    onDied(error);
    end(1, null);
  };
  const child = createProcess({ name, scheduler, random, stretch, onCrash });
  child.setClock({ offsetMs: parent.nowMs() - scheduler.nowMs(), drift: 0 });
  const interrupt = new AbortController();
  const abort = () => child.enter(() => interrupt.abort());
  // As a process that was forked hears that its parent is gone.
  const forget = parent.onKilled(abort);
  const handle = new EventEmitter();
  const end = (code: number | null, signal: string | null) => {
    if (child.state() === 'dead') return;
    forget();
    child.kill();
    parent.enter(() => handle.emit('exit', code, signal));
  };
  return Object.assign(handle, {
    send(task: RebuildTask, sent: (error: Error | null) => void): void {
      sent(null);
      child.after(startMs, async () => {
        const given = { log, runtime: child.runtime, signal: interrupt.signal };
        await performRebuildTask(task, given).then(
          (code) => end(code, null),
          (error) => onCrash(child, error),
        );
      });
    },
    kill(signal: string): void {
      if (signal === 'SIGKILL') end(null, signal);
      else abort();
    },
  });
}
