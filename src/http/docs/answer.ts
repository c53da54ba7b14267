/** Answers that are made before they are asked for: their bytes, their validator, their headers. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from '../server/context.ts';

export type Answer = {
  status: number;
  body: Buffer;
  headers: Readonly<Record<string, string>>;
  /** Made when the first reader takes it. */
  gzipped?: Promise<Buffer>;
};

const compress = promisify(gzip);

/** What is smaller is not worth the time that packing takes. */
const minGzipLength = 1024;

/** `type` is a media type; `headers` outrank those that every page of the service has. */
export function createAnswer(
  type: string,
  text: string | Buffer,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  const body = Buffer.from(text);
  // A weak one, because it is the same for the packed and the plain bytes.
  const etag = `W/"${hashOf(body)}"`;
  const charset = type.startsWith('text/') ? '; charset=utf-8' : '';
  return {
    status,
    body,
    headers: {
      'Content-Type': `${type}${charset}`,
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
      ETag: etag,
      ...headers,
    },
  };
}

/** Enough of the SHA-256 to tell versions apart. */
export const hashOf = (body: Buffer): string =>
  createHash('sha256').update(body).digest('base64url').slice(0, 16);

/** 304 where the reader has it already. */
export async function send(ctx: Context, answer: Answer): Promise<void> {
  ctx.status = answer.status;
  ctx.set(answer.headers);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const { body } = answer;
  if (body.length < minGzipLength || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    ctx.body = body;
    return;
  }
  answer.gzipped ??= compress(body);
  ctx.set('Content-Encoding', 'gzip');
  ctx.body = await answer.gzipped;
}
