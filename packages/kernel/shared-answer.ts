/** An answer that many ask for at once. */
import type { Runtime } from './runtime.ts';

/** Everybody who asks within `freshMs` of a question gets its answer, or its error. */
export function sharedAnswer<Answer>(
  ask: () => Promise<Answer>,
  freshMs: number,
  { monotonicMs }: Pick<Runtime, 'monotonicMs'>,
): () => Promise<Answer> {
  let latest: { atMs: number; answer: Promise<Answer> } | null = null;
  return () => {
    const nowMs = monotonicMs();
    if (!latest || nowMs - latest.atMs > freshMs) latest = { atMs: nowMs, answer: ask() };
    return latest.answer;
  };
}
