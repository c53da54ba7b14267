/** The lines of a file of any size, one at a time. */
import { createReadStream } from 'node:fs';

const newline = 0x0a;

/**
 * Splits at line feeds. The last line has not `ended` if it has none, or is longer than `maxBytes`: what follows that is
 * not read. Throws the operating system's error when the file cannot be read.
 */
export async function* linesOf(
  path: string,
  maxBytes: number,
): AsyncGenerator<{ bytes: Buffer; ended: boolean }> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      yield { bytes: Buffer.concat([...pending, rest.subarray(0, end)]), ended: true };
      pending = [];
      pendingBytes = 0;
      rest = rest.subarray(end + 1);
    }
    pending.push(rest);
    pendingBytes += rest.length;
    if (pendingBytes > maxBytes) break;
  }
  if (pendingBytes > 0) yield { bytes: Buffer.concat(pending), ended: false };
}
