/**
 * Pages, styles and scripts that are made at startup and sent as they are: bytes, ETag, headers, gzip. Our own, because
 * koa-compress and koa-conditional-get would compress and hash the same bytes at every request.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

export type Answer = {
  status: number;
  body: Buffer;
  headers: Readonly<Record<string, string>>;
  /** Compressed when the first client accepts it. */
  gzipped?: Promise<Buffer>;
};

const compress = promisify(gzip);

/** Compressing saves nothing below this size. */
const minGzipLength = 1024;

/** `headers` override those that the server sets for every answer. */
export function createAnswer(
  type: string,
  text: string | Buffer,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Answer {
  const body = Buffer.from(text);
  // Weak, because the gzipped and the plain bytes share it.
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
const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('base64url').slice(0, 16);

/**
 * Adds a file to `answers` under a path that contains its hash (`/docs/assets/docs.<hash>.css`), so that browsers may
 * cache it for ever. Returns that path.
 */
export function addImmutable(
  answers: Map<string, Answer>,
  path: string,
  type: string,
  content: string | Buffer,
  headers: Record<string, string> = {},
): string {
  const hashedPath = path.replace('.', `.${hashOf(Buffer.from(content))}.`);
  answers.set(hashedPath, createAnswer(type, content, { headers: { ...immutable, ...headers } }));
  return hashedPath;
}

export const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** Answers 304 if the client already has it. */
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
