/** A command's progress on standard error: a line rewritten on a terminal, plain lines or nothing elsewhere. */
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { progressText, type RebuildProgress, shareDone } from '@ledger/projections/rebuild/progress.ts';
import type { VerifyProgress } from '../audit/verify/violations.ts';

const terminalMs = 100;
const plainMs = 5_000;
const barWidth = 24;

/**
 * `show` may be called for every event and writes at most ten times a second, or when `what` is another. If standard
 * error is not a terminal, it writes `plain`, if given, every five seconds. `end` removes the line.
 */
function openProgress(out: NodeJS.WriteStream = process.stderr) {
  let shown = { what: '', ms: Number.NEGATIVE_INFINITY };
  return {
    show(what: string, text: () => string, plain?: () => string): void {
      const nowMs = systemRuntime.monotonicMs();
      if (what === shown.what && nowMs - shown.ms < (out.isTTY ? terminalMs : plainMs)) return;
      shown = { what, ms: nowMs };
      if (out.isTTY) out.write(`\r\u001b[K${text()}`);
      else if (plain) out.write(`${plain()}\n`);
    },
    end(): void {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}

/** A bar on a terminal, a plain line every few seconds elsewhere. */
export function openRebuildProgress(name: string) {
  const { show, end } = openProgress();
  return {
    show(progress: RebuildProgress): void {
      const text = () => `${name} ${Math.floor(shareDone(progress) * 100)} %, ${progressText(progress)}`;
      show(name, () => `${bar(shareDone(progress))} ${text()}`, text);
    },
    end,
  };
}

/** Such as `[██░░] 62 % 1,284,000 events of the log`, on a terminal only. */
export function openVerifyProgress(out?: NodeJS.WriteStream) {
  const { show, end } = openProgress(out);
  return {
    show({ step, done, share }: VerifyProgress): void {
      const part = share === null ? '' : `${bar(share)} ${Math.floor(share * 100)} % `;
      show(step, () => `${part}${done.toLocaleString('en')} ${step}`);
    },
    end,
  };
}

function bar(share: number): string {
  const filled = Math.round(share * barWidth);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`;
}
