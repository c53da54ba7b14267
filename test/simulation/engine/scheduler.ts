/**
 * Simulated time: a queue of events, of which one runs at a time. The next one begins only when the process has nothing
 * left to do: no microtask, no `setImmediate`, no work in the thread pool. The order of events therefore depends on the
 * queue alone.
 */
import { setImmediate } from 'node:timers/promises';

export type Scheduler = {
  /** Milliseconds since 1970, by the clock of nobody in particular. */
  nowMs(): number;
  /** Calls `run` after `delayMs`, unless the function that it returns is called first. */
  after(delayMs: number, run: () => unknown): () => void;
  /** Runs the next event; false when there is none. Rejects with what an event throws. */
  step(): Promise<boolean>;
  /** Waits until what has been begun outside of an event has come to rest. */
  settle(): Promise<void>;
};

type Event = { atMs: number; sequence: number; run: (() => unknown) | null };

/** What Node calls work that goes on: on files, which is all that the thread pool gets, and what `setImmediate` defers. */
const work = new Set(['FSReqCallback', 'FSReqPromise', 'CloseReq', 'Immediate']);

export function createScheduler(startMs: number): Scheduler {
  const queue: Event[] = [];
  let nowMs = startMs;
  let sequence = 0;

  async function settle(): Promise<void> {
    do {
      // Each turn also drains the microtasks.
      for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    } while (process.getActiveResourcesInfo().some((name) => work.has(name)));
  }

  return {
    nowMs: () => nowMs,
    after(delayMs, run) {
      const event: Event = { atMs: nowMs + Math.max(0, delayMs), sequence: sequence++, run };
      push(queue, event);
      return () => {
        event.run = null;
      };
    },
    async step() {
      for (;;) {
        const event = pop(queue);
        if (!event) return false;
        const { run } = event;
        if (!run) continue;
        nowMs = event.atMs;
        await run();
        await settle();
        return true;
      }
    },
    settle,
  };
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
