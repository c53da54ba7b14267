/**
 * A simulated process on a simulated machine: its clock, timers and randomness. What runs in it is known by its
 * asynchronous context, so that libraries which take the time from Node get that of their process (node-api.ts).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

const context = new AsyncLocalStorage<SimulatedProcess>();

/** The process whose code is running; undefined outside of the simulation. */
export const currentProcess = (): SimulatedProcess | undefined => context.getStore();

/** Runs code of the simulator that needs the real clock and network. */
export const outside = <Result>(run: () => Result): Result => context.exit(run);

/** By how much a machine's clock is wrong: `offsetMs` now, and `drift` more milliseconds per millisecond. */
export type Clock = { offsetMs: number; drift: number };

export type SimulatedProcess = {
  /** Of its machine: the address under which others reach it. */
  name: string;
  runtime: Runtime;
  random: Random;
  state(): 'running' | 'paused' | 'dead';
  /** Runs code of this process: later if it is paused, never if it is dead. */
  enter(run: () => unknown): void;
  after(delayMs: number, run: () => unknown): () => void;
  /** How long a timer of so long takes, which may be later than it was set for. */
  stretch(ms: number): number;
  setClock(clock: Clock): void;
  nowMs(): number;
  /** Ends it as SIGKILL does: nothing of it ever runs again. */
  kill(): void;
  /** An error of it that nobody caught. */
  fail(error: unknown): void;
  /** As SIGSTOP and SIGCONT. */
  pause(): void;
  resume(): void;
  /** Calls `run` when it is killed, unless the function that it returns is called first. */
  onKilled(run: () => void): () => void;
};

/** Runs code in a process that is running, at once, and returns what it returns. */
export function within<Result>(process: SimulatedProcess, run: () => Result): Result {
  let made: { result: Result } | undefined;
  process.enter(() => {
    made = { result: run() };
  });
  if (!made) throw new Error(`${process.name} does not run`);
  return made.result;
}

/** An error that nobody caught: it ends the process. */
export type OnCrash = (process: SimulatedProcess, error: unknown) => void;

/** `stretch` makes timers late, which a timer may be: it returns the time to wait instead of the given one. */
export function createProcess({
  name,
  scheduler,
  random,
  stretch = (ms) => ms,
  onCrash = (_, error) => {
    throw error;
  },
}: {
  name: string;
  scheduler: Scheduler;
  random: Random;
  stretch?: (ms: number) => number;
  onCrash?: OnCrash;
}): SimulatedProcess {
  let state: ReturnType<SimulatedProcess['state']> = 'running';
  let clock: Clock = { offsetMs: 0, drift: 0 };
  let since = scheduler.nowMs();
  const bootMs = scheduler.nowMs();
  const waiting: (() => unknown)[] = [];
  const killed = new Set<() => void>();

  const nowMs = () => {
    const trueMs = scheduler.nowMs();
    return Math.floor(trueMs + clock.offsetMs + clock.drift * (trueMs - since));
  };
  const execute = (run: () => unknown): void => {
    try {
      context.run(self, run);
    } catch (error) {
      onCrash(self, error);
    }
  };
  // After a pause, too, everything runs in the order in which it arrived.
  const enter = (run: () => unknown): void => {
    if (state === 'dead') return;
    if (state === 'paused' || waiting.length > 0) waiting.push(run);
    else execute(run);
  };
  const catchUp = (): void => {
    const run = state === 'running' && waiting.shift();
    if (!run) return;
    execute(run);
    scheduler.after(0, catchUp);
  };
  const after = (delayMs: number, run: () => unknown) => {
    let cancelled = false;
    const cancel = scheduler.after(delayMs, () => enter(() => cancelled || run()));
    return () => {
      // A timer that was due while the process was paused waits to run, and can still be cancelled.
      cancelled = true;
      cancel();
    };
  };

  const self: SimulatedProcess = {
    name,
    random,
    state: () => state,
    enter,
    after,
    stretch,
    nowMs,
    setClock(next) {
      clock = next;
      since = scheduler.nowMs();
    },
    kill() {
      state = 'dead';
      waiting.length = 0;
      for (const run of killed) run();
      killed.clear();
    },
    fail(error) {
      if (state !== 'dead') onCrash(self, error);
    },
    pause() {
      if (state === 'running') state = 'paused';
    },
    resume() {
      if (state !== 'paused') return;
      state = 'running';
      scheduler.after(0, catchUp);
    },
    onKilled(run) {
      killed.add(run);
      return () => void killed.delete(run);
    },
    runtime: {
      now: () => new Date(nowMs()),
      monotonicMs: () => (scheduler.nowMs() - bootMs) * (1 + clock.drift),
      sleep(ms, signal) {
        if (signal?.aborted) return Promise.resolve();
        const { promise, resolve } = Promise.withResolvers<void>();
        const aborted = () => {
          cancel();
          resolve();
        };
        // Of one signal, a process may wait for thousands of times.
        const cancel = after(stretch(ms), () => {
          signal?.removeEventListener('abort', aborted);
          resolve();
        });
        signal?.addEventListener('abort', aborted);
        return promise;
      },
      setTimer: (ms, run) => after(ms, run),
      timeout(ms) {
        const controller = new AbortController();
        after(ms, () => controller.abort(new DOMException('The operation timed out', 'TimeoutError')));
        return controller.signal;
      },
      yieldToIo() {
        const { promise, resolve } = Promise.withResolvers<void>();
        after(0, resolve);
        return promise;
      },
      random: random.next,
      randomBytes: random.bytes,
      uuid: () => uuidOf(random.bytes(16)),
    },
  };
  return self;
}

/** A UUID of version 4 from 16 bytes. */
export function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
