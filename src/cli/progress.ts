/** The progress of a rebuild and of a verification, on standard error. */
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { openProgress, progressBar } from '@ledger/kernel/terminal-progress.ts';
import { progressText, type RebuildProgress, shareDone } from '@ledger/projections/rebuild/progress.ts';
import type { VerifyProgress } from '../audit/verify/violations.ts';

/** A bar on a terminal, a plain line every few seconds elsewhere. */
export function openRebuildProgress(name: string) {
  const { show, end } = openProgress(systemRuntime);
  return {
    show(progress: RebuildProgress): void {
      const text = () => `${name} ${Math.floor(shareDone(progress) * 100)} %, ${progressText(progress)}`;
      show(name, () => `${progressBar(shareDone(progress))} ${text()}`, text);
    },
    end,
  };
}

/** Such as `[██░░] 62 % 1,284,000 events of the log`, on a terminal only. */
export function openVerifyProgress(out?: NodeJS.WriteStream) {
  const { show, end } = openProgress(systemRuntime, out);
  return {
    show({ step, done, share }: VerifyProgress): void {
      const part = share === null ? '' : `${progressBar(share)} ${Math.floor(share * 100)} % `;
      show(step, () => `${part}${done.toLocaleString('en')} ${step}`);
    },
    end,
  };
}
