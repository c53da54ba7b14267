/** Work in the background, and the end of it. */
export type Background = {
  /** Settles as the work does: after `stop`, or when it has ended by itself. */
  ended: Promise<void>;
  /** Aborts the work's signal, and waits for its end. */
  stop(): Promise<void>;
};

export function runUntilStopped(work: (signal: AbortSignal) => Promise<void>): Background {
  const stopping = new AbortController();
  const ended = work(stopping.signal);
  return {
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
  };
}
