/** A command's progress on standard error: a line rewritten on a terminal, plain lines or nothing elsewhere. */
import type { VerifyProgress } from '../audit/verify/violations.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { type RebuildProgress, secondsLeft, shareDone } from '../projections/rebuild/progress.ts';

const terminalMs = 100;
const plainMs = 5_000;
const barWidth = 24;

/**
 * `show` may be called for every event and writes at most ten times a second. If standard error is not a terminal, it
 * writes `plain`, if given, every five seconds. `end` removes the line.
 */
export function openProgress(out: NodeJS.WriteStream = process.stderr) {
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show(text: () => string, plain?: () => string): void {
      const nowMs = systemRuntime.monotonicMs();
      if (nowMs - shownMs < (out.isTTY ? terminalMs : plainMs)) return;
      shownMs = nowMs;
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
      const text = () => progressText(name, progress);
      show(() => `${bar(shareDone(progress))} ${text()}`, text);
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
      show(() => `${part}${done.toLocaleString('en')} ${step}`);
    },
    end,
  };
}

function bar(share: number): string {
  const filled = Math.round(share * barWidth);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`;
}

/** Such as `payments 62 %, 1,284,000 events, 18,400/s, 1:12 left`. */
export function progressText(name: string, progress: RebuildProgress): string {
  const { events, eventsPerSecond } = progress;
  const left = secondsLeft(progress);
  return [
    `${name} ${Math.floor(shareDone(progress) * 100)} %`,
    `${events.toLocaleString('en')} events`,
    `${Math.round(eventsPerSecond).toLocaleString('en')}/s`,
    ...(left === null ? [] : [`${clock(left)} left`]),
  ].join(', ');
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
