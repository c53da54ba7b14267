/** A bound on how long we wait for the event store. */
import { DeadlineExceeded } from './errors.ts';

/** Settles as `work` does, or throws DeadlineExceeded after `deadlineMs`; `work` itself goes on unheard. */
export async function withDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DeadlineExceeded(deadlineMs)), deadlineMs);
  try {
    return await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
