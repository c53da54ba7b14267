/**
 * Where log lines go: standard output, without ever waiting for its reader. pino's own destination waits for ever
 * for a reader that has gone, which kept `ledger serve | head` alive and deaf to signals.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { codeOf } from './reason-of.ts';

/** While more than this waits, further lines are dropped; their number is logged once lines can be written again. */
const maxWaitingBytes = 1024 * 1024;

/** `fd` is a file descriptor, 1 for standard output. */
export function createLogOutput(fd = 1): DestinationStream {
  const target = withoutWaiting(fd);
  let waiting = Buffer.of();
  let dropped = 0;
  let closed = false;

  function flush(): void {
    while (waiting.length > 0) waiting = waiting.subarray(writeSync(target, waiting));
  }

  return {
    write(line) {
      if (closed) return;
      if (waiting.length > maxWaitingBytes) dropped += 1;
      else waiting = Buffer.concat([waiting, Buffer.from(line)]);
      try {
        flush();
        if (dropped === 0) return;
        const notice = `${JSON.stringify({ level: 40, msg: 'log lines were dropped', dropped })}\n`;
        dropped = 0;
        waiting = Buffer.from(notice);
        flush();
      } catch (error) {
        // What a full pipe or a full disk does not take waits for the next line, unless nobody reads any more.
        closed = codeOf(error) === 'EPIPE';
      }
    },
  };
}

/** A pipe is opened once more, because a write to the inherited descriptor would wait while it is full. */
function withoutWaiting(fd: number): number {
  try {
    if (fstatSync(fd).isFIFO()) return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Where there is no such path, or the reader has gone already, the descriptor itself has to do.
  }
  return fd;
}
