/** What an interrupted `ledger verify` had found, in a file, so that the next one goes on from there. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { array, type Infer, is, nullable, number, object, record, string } from 'superstruct';
import type { Runtime } from '../../kernel/runtime.ts';
import { utc } from '../../kernel/structs.ts';
import type { KeyTerm } from '../seals/key.ts';

const Checked = object({ what: string(), count: number() });
const Violation = object({ kind: string(), count: number(), first: string() });

const Progress = object({
  startedAt: utc,
  /** The keys, as JSON. */
  trusted: string(),
  /** The log up to a checkpoint; null before the first. */
  log: nullable(
    object({
      checkpoint: object({ size: number(), root: string() }),
      events: number(),
      streams: number(),
      seals: number(),
      uncovered: number(),
      violations: array(Violation),
      explained: array(string()),
    }),
  ),
  /** By projection. */
  rows: record(string(), object({ checked: nullable(Checked), violations: array(Violation) })),
});
export type VerifiedSoFar = Infer<typeof Progress>;

const keptForMs = 24 * 60 * 60_000;
const everyMs = 2_000;

/** `load` gives null if there is nothing to go on from: after a day, or with other keys, everything is verified anew. */
export function progressFile(path: string, runtime: Pick<Runtime, 'now' | 'monotonicMs'>) {
  let savedMs = runtime.monotonicMs();
  return {
    load(trusted: readonly KeyTerm[] | null): VerifiedSoFar | null {
      try {
        const saved: unknown = JSON.parse(readFileSync(path, 'utf8'));
        const isRecent = (at: string) => runtime.now().getTime() - Date.parse(at) < keptForMs;
        const isFit = is(saved, Progress) && isRecent(saved.startedAt);
        return isFit && saved.trusted === JSON.stringify(trusted) ? saved : null;
      } catch {
        return null; // there is none, or it cannot be read: nothing is lost but time
      }
    },
    /** Every two seconds at most, unless `isStep`. */
    save(progress: () => VerifiedSoFar, isStep = false): void {
      if (!isStep && runtime.monotonicMs() - savedMs < everyMs) return;
      savedMs = runtime.monotonicMs();
      try {
        writeFileSync(`${path}.new`, JSON.stringify(progress()), { mode: 0o600 });
        renameSync(`${path}.new`, path);
      } catch {
        // Where this account may not write, the next run begins anew.
      }
    },
    remove: () => rmSync(path, { force: true }),
  };
}
