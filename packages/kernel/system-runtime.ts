/** The runtime of a real process: Node's own clock, timers and randomness. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from './runtime.ts';

export const systemRuntime: Runtime = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}).catch(() => {}),
  setTimer(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  timeout: (ms) => AbortSignal.timeout(ms),
  yieldToIo: () => setImmediate(),
  random: Math.random,
  randomBytes,
  uuid: randomUUID,
};
