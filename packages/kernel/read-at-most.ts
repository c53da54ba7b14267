/** Reads a request or another stream as a whole, within a limit. */
import type { Readable } from 'node:stream';

/** Resolves to null as soon as the stream has more than `maxBytes`. It is not destroyed, so that a request can be answered. */
export async function readAtMost(
  stream: Readable,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
