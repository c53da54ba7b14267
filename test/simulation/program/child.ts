/** The processes that the program starts, on the machine of the one that starts them: for a requested rebuild, and to verify. */
import { EventEmitter } from 'node:events';
import type { Log } from '@ledger/kernel/log.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import type { Config } from '../../../src/config/config.ts';
import { createProcess, type SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { performRequested, verifyAndRecord } from './commands.ts';

/** How long the process takes until it reads its task. */
const startMs = 500;

/** What a process is started for, and with which projection; null for one that hears that from its parent. */
export function purposeOf(
  file: string,
  args: readonly string[],
): readonly ['rebuild' | 'verify', string | null] {
  // Of the previous release.
  if (file.endsWith('/rebuild-child.ts')) return ['rebuild', null];
  const [command, , projection = null] = args;
  if (file.endsWith('/main.ts') && (command === 'rebuild' || command === 'verify'))
    return [command, projection];
  throw new Error(`The simulator cannot start ${file} ${args.join(' ')}`);
}

/** What `fork` returns of Node's ChildProcess, as far as the program uses it. */
export function forkChild(
  parent: SimulatedProcess,
  [command, projection]: ReturnType<typeof purposeOf>,
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
  const handle = new EventEmitter();
  const end = (code: number | null, signal: string | null) => {
    if (child.state() === 'dead') return;
    forget();
    child.kill();
    parent.enter(() => handle.emit('exit', code, signal));
  };
  const interrupt = new AbortController();
  /** A rebuild heeds no signal. */
  const terminate = () => {
    if (command === 'rebuild') end(null, 'SIGTERM');
    else child.enter(() => interrupt.abort());
  };
  const forget = parent.onKilled(terminate);
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
  const rebuild = async (name: string): Promise<void> => {
    const onFailure = (error: unknown) => {
      log.warn({ reason: String(error).slice(0, 200) }, 'ledger rebuild failed');
      return 1;
    };
    end(await performRequested(config, name, given).then(() => 0, onFailure), null);
  };
  if (command === 'verify') child.after(startMs, () => void verify());
  else if (projection !== null) child.after(startMs, () => void rebuild(projection));
  return Object.assign(handle, {
    send(task: { projection: string }, sent: (error: Error | null) => void): void {
      sent(null);
      child.after(startMs, () => void rebuild(task.projection));
    },
    kill(signal: string): void {
      if (signal === 'SIGKILL') end(null, signal);
      else terminate();
    },
  });
}
