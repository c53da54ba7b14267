/** A command's progress on standard error: a line rewritten on a terminal, plain lines or nothing elsewhere. */
import type { Runtime } from './runtime.ts';

const terminalMs = 100;
const plainMs = 5_000;
const barWidth = 24;

/**
 * `show` may be called for every event and writes at most ten times a second, or when `what` is another. If standard
 * error is not a terminal, it writes `plain`, if given, every five seconds. `end` removes the line.
 */
export function openProgress(
  runtime: Pick<Runtime, 'monotonicMs'>,
  out: NodeJS.WriteStream = process.stderr,
) {
  let shown = { what: '', ms: Number.NEGATIVE_INFINITY };
  return {
    show(what: string, text: () => string, plain?: () => string): void {
      const nowMs = runtime.monotonicMs();
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

/** Such as `[██░░]`; `share` is from 0 to 1. */
export function progressBar(share: number): string {
  const filled = Math.round(share * barWidth);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`;
}
