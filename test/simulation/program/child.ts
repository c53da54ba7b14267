/** The processes that the program starts, on the machine of the one that starts them: for a requested rebuild, and to verify. */
import { EventEmitter } from 'node:events';
import type { Log } from '@ledger/kernel/log.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import type { Config } from '../../../src/config/config.ts';
import { performRebuildTask, type RebuildTask } from '../../../src/roles/rebuild-task.ts';
import { createProcess, type SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { verifyAndRecord } from './verify-child.ts';

/** How long the process takes until it reads its task. */
const startMs = 500;

/** What a file is started for. */
export function purposeOf(file: string): 'rebuild' | 'verify' {
  if (file.endsWith('/rebuild-child.ts')) return 'rebuild';
  if (file.endsWith('/main.ts')) return 'verify';
  throw new Error(`The simulator cannot start ${file}`);
}

/** What `fork` returns of Node's ChildProcess, as far as the program uses it. */
export function forkChild(
  parent: SimulatedProcess,
  purpose: ReturnType<typeof purposeOf>,
  {
    config,
    scheduler,
    random,
    log,
    onVerify,
    onDied,
  }: {
    config: Config;
    scheduler: Scheduler;
    random: Random;
    log: Log;
    /** A verification begins. What is returned takes what was recorded; it is not called if nothing was. */
    onVerify: () => (report: VerifyReport) => void;
    /** An error that nobody caught has ended it. */
    onDied: (error: unknown) => void;
  },
) {
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
  const given = { log, runtime: child.runtime, signal: interrupt.signal };
  const verify = async (): Promise<void> => {
    const onRecorded = onVerify();
    const report = await verifyAndRecord(config, given).catch((error: unknown) => {
      log.warn({ reason: String(error).slice(0, 200) }, 'ledger verify failed');
      return null;
    });
    if (report) onRecorded(report);
    end(report ? Math.min(1, report.violations.length) : 1, null);
  };
  if (purpose === 'verify') child.after(startMs, () => void verify());
  return Object.assign(handle, {
    send(task: RebuildTask, sent: (error: Error | null) => void): void {
      sent(null);
      child.after(startMs, async () => {
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
