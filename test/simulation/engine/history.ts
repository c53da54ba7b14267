/** What happened in a simulation: a digest over everything, and the lines that a person reads. */
import { createHash } from 'node:crypto';

export type History = {
  /** Part of the digest only: too much to read. */
  trace(text: string): void;
  /** Part of the digest and of the story. */
  tell(text: string): void;
  /** One line each, the oldest first; begins with the simulated time. */
  lines(): readonly string[];
  digest(): string;
};

/** `nowMs` is the simulated time; the story counts from `startMs`. */
export function createHistory(nowMs: () => number, startMs: number): History {
  const hash = createHash('sha256');
  const lines: string[] = [];
  // Most lines are short, and a call for each would cost more than their hash.
  let pending = '';
  const trace = (text: string): void => {
    pending += `${nowMs()} ${text}\n`;
    if (pending.length > 65_536) flush();
  };
  const flush = (): void => {
    hash.update(pending);
    pending = '';
  };
  return {
    trace,
    tell(text) {
      trace(text);
      lines.push(`${clock(nowMs() - startMs)}  ${text}`);
    },
    lines: () => lines,
    digest() {
      flush();
      return hash.copy().digest('hex').slice(0, 32);
    },
  };
}

/** `1d 02:03:04.567` of a duration. */
function clock(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const time = new Date(ms % 86_400_000).toISOString().slice(11, 23);
  return `${days > 0 ? `${days}d ` : ''}${time}`;
}
