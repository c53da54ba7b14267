/**
 * The clock, the timers and the randomness of a process. Only the composition roots (main.ts, roles/, cli/) create one
 * (system-runtime.ts); everything else receives it, so that a simulator can run the program in simulated time.
 */
export type Runtime = {
  /** The time of day in UTC. It may jump: measure durations with `monotonicMs`. */
  now(): Date;
  /** Milliseconds of a clock that never jumps, from an arbitrary start. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`, unless the function that it returns is called first. */
  setTimer(ms: number, run: () => void): () => void;
  /** A signal that aborts with a TimeoutError after `ms`. */
  timeout(ms: number): AbortSignal;
  /** Resolves once the I/O events that are already waiting have been handled. */
  yieldToIo(): Promise<void>;
  /** At least 0 and less than 1; not for secrets. */
  random(): number;
  /** For secrets. */
  randomBytes(length: number): Buffer;
  /** A random UUID (version 4). */
  uuid(): string;
};
