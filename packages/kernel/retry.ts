/**
 * Retries with growing pauses. p-retry makes the attempts. The pauses use the runtime, because p-retry's own timers
 * would not run in simulated time.
 */
import pRetry from 'p-retry';
import type { Runtime } from './runtime.ts';

type RetryOptions = {
  runtime: Pick<Runtime, 'monotonicMs' | 'random' | 'sleep'>;
  /** No attempt begins after it aborts, and the result of one that was under way then is dropped. */
  signal?: AbortSignal;
  /** The pause after the first failure; it doubles with each failure in a row. */
  firstMs?: number;
  longestMs?: number;
  /** The part of each pause that is random, from 0 to 1, so that processes do not retry in step. */
  jitter?: number;
  /** Once this many attempts have failed in all, whatever progress was reported, the last failure is thrown. */
  maxAttempts?: number;
  /** Throws when the next pause would end after this. By default only the signal ends the attempts. */
  giveUpAfterMs?: number;
  /** Whether to retry after this error, given the failures in a row before it; if not, it is thrown immediately. */
  shouldRetry?(error: unknown, failures: number): boolean;
  /** Called for each failure before the pause, with the number of failures in a row. */
  onFailure?(error: unknown, failures: number): void;
};

/**
 * Calls `work` until it resolves. `work` may report progress, after which the next failure counts as the first.
 * Throws what `work` threw last when it may not try again, and the signal's reason when that aborts.
 */
export async function retry<T>(
  work: (onProgress: () => void) => Promise<T>,
  {
    runtime,
    signal,
    firstMs = 100,
    longestMs = 5_000,
    jitter = 0.5,
    maxAttempts = Number.POSITIVE_INFINITY,
    giveUpAfterMs = Number.POSITIVE_INFINITY,
    shouldRetry = () => true,
    onFailure,
  }: RetryOptions,
): Promise<T> {
  const startedMs = runtime.monotonicMs();
  let failures = 0;
  const onProgress = () => {
    failures = 0;
  };
  const attempt = () =>
    work(onProgress).catch((cause) => {
      throw new AttemptFailed('An attempt failed', { cause });
    });
  try {
    return await pRetry(attempt, {
      retries: maxAttempts - 1,
      minTimeout: 0,
      ...(signal && { signal }),
      async shouldRetry({ error: { cause: failure } }) {
        if (signal?.aborted || !shouldRetry(failure, failures)) return false;
        failures += 1;
        onFailure?.(failure, failures);
        const fullMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
        const leftMs = giveUpAfterMs - (runtime.monotonicMs() - startedMs);
        if (leftMs <= 0) return false;
        const pauseMs = Math.min(fullMs * (1 - jitter + jitter * runtime.random()), leftMs);
        await runtime.sleep(pauseMs, signal);
        return !signal?.aborted;
      },
    });
  } catch (error) {
    throw error instanceof AttemptFailed ? error.cause : error;
  }
}

/** p-retry gives up at once on a TypeError, so every error is wrapped in this one. */
class AttemptFailed extends Error {
  override name = 'AttemptFailed';
}
