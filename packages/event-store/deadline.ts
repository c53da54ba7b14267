/** How long we wait for the event store: the client sets no limit on appends and reads, and a server may be frozen. */
import type { Runtime } from '@ledger/kernel/runtime.ts';

export class DeadlineExceeded extends Error {
  override name = 'DeadlineExceeded';
}

/** Settles as `work` does, or rejects with DeadlineExceeded; `work` itself continues, and its result is ignored. */
type WithinDeadline = <T>(work: Promise<T>) => Promise<T>;

export function createDeadline(runtime: Pick<Runtime, 'setTimer'>, deadlineMs: number): WithinDeadline {
  return async (work) => {
    const { promise: expiry, reject } = Promise.withResolvers<never>();
    const cancel = runtime.setTimer(deadlineMs, () =>
      reject(new DeadlineExceeded(`No answer within ${deadlineMs} ms`)),
    );
    try {
      return await Promise.race([work, expiry]);
    } finally {
      cancel();
    }
  };
}
