/** One line on the terminal that says how far a command is; nothing where standard error is no terminal. */

const everyMs = 100;

/** `show` may be called for every event: it writes ten times a second at most. `end` takes the line away. */
export function openProgressLine(out: NodeJS.WriteStream = process.stderr) {
  let shownMs = 0;
  return {
    show(text: () => string): void {
      const nowMs = performance.now();
      if (!out.isTTY || nowMs - shownMs < everyMs) return;
      shownMs = nowMs;
      out.write(`\r\u001b[K${text()}`);
    },
    end(): void {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}
