/** What an interrupted `ledger verify` had found, in a file with a MAC, so that the next one continues from there. */
import { createHmac, hkdfSync } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { KeyTerm } from '@ledger/transparency-log/key.ts';
import type { Checked, Violation } from './violations.ts';

/** Events with a time long before what was sealed before them; `first` is the place of the first, `''` if there is none. */
export type EarlyEvents = { count: number; first: string };

/** How much of the log was read up to a seal: events, streams, seals met, events that no seal covers, and early ones. */
export type LogCounts = {
  events: number;
  streams: number;
  seals: number;
  uncovered: number;
  /** Missing in the file of an earlier release. */
  early?: EarlyEvents;
};

type ComparedRows = {
  checked: Checked | null;
  violations: readonly Violation[];
  /** Streams whose personal data are lost, and the first of them; missing in the file of an earlier release. */
  lost?: { count: number; first: string } | null;
};

export type VerifiedSoFar = {
  startedAt: string;
  /** The keys, as JSON. */
  trusted: string;
  /** The log up to a checkpoint, whose root is in hexadecimal; null before the first. */
  log:
    | (LogCounts & { size: number; root: string; violations: readonly Violation[]; explained: string[] })
    | null;
  /** By projection; null if its rows could not be compared. */
  rows: Record<string, ComparedRows>;
};

/** Less than from one daily run to the next, so that a copy of the file of one does not serve the next. */
const keptForMs = 12 * 60 * 60_000;
const everyMs = 2_000;

/** `load` returns null after half a day, with other keys, or if the file was changed. Then everything is verified again. */
export function progressFile(path: string, dataKey: string, runtime: Pick<Runtime, 'now' | 'monotonicMs'>) {
  let savedMs = runtime.monotonicMs();
  const secret = Buffer.from(hkdfSync('sha256', dataKey, '', 'progress of ledger verify', 32));
  const macOf = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  return {
    load(trusted: readonly KeyTerm[] | null): VerifiedSoFar | null {
      try {
        const [mac, text = ''] = readFileSync(path, 'utf8').split('\n');
        if (mac !== macOf(text)) return null;
        const saved: VerifiedSoFar = JSON.parse(text);
        const isRecent = runtime.now().getTime() - Date.parse(saved.startedAt) < keptForMs;
        return isRecent && saved.trusted === JSON.stringify(trusted) ? saved : null;
      } catch {
        return null; // there is none, or it cannot be read: nothing is lost but time
      }
    },
    /** Every two seconds at most, unless `isStep`. */
    save(progress: () => VerifiedSoFar, isStep = false): void {
      if (!isStep && runtime.monotonicMs() - savedMs < everyMs) return;
      savedMs = runtime.monotonicMs();
      try {
        const text = JSON.stringify(progress());
        writeFileSync(`${path}.new`, `${macOf(text)}\n${text}`, { mode: 0o600 });
        renameSync(`${path}.new`, path);
      } catch {
        // If this account may not write, the next run starts from the beginning.
      }
    },
    remove: () => rmSync(path, { force: true }),
  };
}
