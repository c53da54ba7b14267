/** Which processes have a merchants file without the merchant that is removed at times. */

/** What was asked before a process knew it again has been answered by then, or the process stands still. */
const lackedForMs = 120_000;

export type Removals = ReturnType<typeof createRemovals>;

export function createRemovals(nowMs: () => number) {
  const sinceMs = new Map<string, number>();
  let changedAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** The process has to read its files again. */
    set(name: string, isRemoved: boolean): void {
      if (isRemoved) sinceMs.set(name, nowMs());
      else sinceMs.delete(name);
      changedAtMs = nowMs();
    },
    has: (name: string): boolean => sinceMs.has(name),
    /** Since when the process has not known the merchant; null if it does. */
    sinceMs: (name: string): number | null => sinceMs.get(name) ?? null,
    /** Whether any process may not know the merchant. */
    isAnywhere: (): boolean => sinceMs.size > 0 || nowMs() < changedAtMs + lackedForMs,
  };
}
