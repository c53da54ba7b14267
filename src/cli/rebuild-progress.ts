/** How far a rebuild is: a bar on a terminal, a plain line every few seconds elsewhere. */
import { type RebuildProgress, secondsLeft, shareDone } from '../projections/rebuild/progress.ts';

const everyMs = { terminal: 100, plain: 5_000 };
const barWidth = 24;

/** `show` may be called for every batch. `end` takes the bar away. */
export function openRebuildProgress(name: string, out: NodeJS.WriteStream = process.stderr) {
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show(progress: RebuildProgress): void {
      const nowMs = performance.now();
      if (nowMs - shownMs < (out.isTTY ? everyMs.terminal : everyMs.plain)) return;
      shownMs = nowMs;
      const text = progressText(name, progress);
      out.write(out.isTTY ? `\r\u001b[K${bar(shareDone(progress))} ${text}` : `${text}\n`);
    },
    end(): void {
      if (out.isTTY) out.write('\r\u001b[K');
    },
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
