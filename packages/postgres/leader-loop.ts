/** Work that is done again and again, in one process of those that run it. */
import { retry } from '@ledger/kernel/retry.ts';
import { type Background, runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { LeaderElection } from './leader-election.ts';

/**
 * Calls `work` at intervals of `everyMs` while this process leads `name`, until it is stopped. A failure is told to
 * `onFailure`, and tried again.
 */
export function repeatAsLeader(
  options: {
    election: LeaderElection;
    name: string;
    everyMs: number;
    runtime: Runtime;
    onFailure(error: unknown, failures: number): void;
  },
  work: (leading: AbortSignal) => Promise<void>,
): Background {
  const { election, name, everyMs, runtime, onFailure } = options;
  return runUntilStopped(async (signal) => {
    const lead = (onProgress: () => void) =>
      election.lead(name, { signal }, async (leading) => {
        for (;;) {
          await runtime.sleep(everyMs, leading);
          if (leading.aborted) return;
          await work(leading);
          onProgress();
        }
      });
    await retry(lead, { runtime, signal, longestMs: everyMs, onFailure }).catch(() => {}); // rejects only on abort
  });
}
