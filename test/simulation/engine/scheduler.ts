/**
 * Simulated time: a queue of events, of which one runs at a time. The next one begins only when the process has nothing
 * left to do: no microtask, no `setImmediate`, no work in the thread pool. The order of events therefore depends on the
 * queue alone.
 */

export type Scheduler = {
  /** Milliseconds since 1970, by the clock of nobody in particular. */
  nowMs(): number;
  /** Calls `run` after `delayMs`, unless the function that it returns is called first. */
  after(delayMs: number, run: () => unknown): () => void;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
  /**
   * Runs the events one after the other for as long as there is one and `goesOn`, which is asked before each. What was
   * begun outside of an event comes to rest first. Rejects with what an event throws.
   */
  run(goesOn?: () => boolean): Promise<void>;
};

type Event = { atMs: number; sequence: number; run: (() => unknown) | null };

/** What Node calls work on files, which is all that the thread pool gets. */
const fileWork = new Set(['FSReqCallback', 'FSReqPromise', 'CloseReq']);

/**
 * Runs all microtasks and what `process.nextTick` defers, as Node does between two callbacks. To leave that to Node would
 * take a turn of its event loop for each event.
 */
const { _tickCallback: runTicks } = process as unknown as { _tickCallback(): void };

export function createScheduler(startMs: number): Scheduler {
  const queue: Event[] = [];
  let nowMs = startMs;
  let sequence = 0;

  function next(): Event | null {
    for (;;) {
      const event = pop(queue);
      if (!event) return null;
      if (event.run) return event;
    }
  }

  const self: Scheduler = {
    nowMs: () => nowMs,
    sleep: (ms) => new Promise((resolve) => void self.after(ms, () => resolve())),
    after(delayMs, run) {
      const event: Event = { atMs: nowMs + Math.max(0, delayMs), sequence: sequence++, run };
      push(queue, event);
      return () => {
        event.run = null;
      };
    },
    run(goesOn = () => true) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const turn = (): void => {
        try {
          for (;;) {
            runTicks();
            const busy = process.getActiveResourcesInfo();
            if (busy.includes('Immediate')) return void setImmediate(turn);
            // Asleep until then: a turn of the loop is dearer than most events.
            if (busy.some((name) => fileWork.has(name))) return void setTimeout(turn, 1);
            const event = goesOn() ? next() : null;
            if (!event) return void resolve();
            nowMs = event.atMs;
            const result = event.run?.();
            if (result instanceof Promise) return void result.then(() => setImmediate(turn), reject);
          }
        } catch (error) {
          reject(error);
        }
      };
      setImmediate(turn);
      return promise;
    },
  };
  return self;
}

const isBefore = (a: Event, b: Event) => (a.atMs === b.atMs ? a.sequence < b.sequence : a.atMs < b.atMs);

function push(heap: Event[], event: Event): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (!above || !isBefore(event, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const right = heap[child + 1];
    let next = heap[child];
    if (!next) break;
    if (right && isBefore(right, next)) {
      child += 1;
      next = right;
    }
    if (!isBefore(next, last)) break;
    heap[index] = next;
    index = child;
  }
  heap[index] = last;
  return first;
}
