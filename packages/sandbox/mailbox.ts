/** A mailbox for development: shows the emails in the service's outbox as their receivers would see them. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import type { RouterContext } from '@koa/router';
import PostalMime, { type Email } from 'postal-mime';
import { contentSecurityPolicy, page } from './pages.ts';
import { malaysianTime } from './result-fields.ts';

const listed = 50;

/** The content of an email is not trusted: no scripts, no other hosts, no forms; links open in a new window. */
const emailPolicy =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/** Adds `/mailbox`. `outboxDir` holds emails as `<name>.eml`; the folder may be created later. */
export function addMailbox(router: Router, outboxDir: string): void {
  const emailOf = (ctx: RouterContext) => readEmail(ctx, outboxDir);
  router.get('/mailbox', async (ctx) => {
    ctx.body = page('mailbox', { emails: await recent(outboxDir) });
  });
  router.get('/mailbox/:name', async (ctx) => {
    ctx.set('Content-Security-Policy', `${contentSecurityPolicy}; frame-src 'self'`);
    ctx.body = page('email', { name: ctx.params.name, ...shown(await emailOf(ctx)) });
  });
  router.get('/mailbox/:name/html', async (ctx) => {
    const { html = '' } = await emailOf(ctx);
    ctx.set('Content-Security-Policy', emailPolicy);
    ctx.type = 'html';
    ctx.body = html.replace('<head>', '<head><base target="_blank">');
  });
  router.get('/mailbox/:name/attachments/:index', async (ctx) => {
    const { attachments } = await emailOf(ctx);
    const attachment = attachments[Number(ctx.params.index)] ?? ctx.throw(404, 'There is no such attachment');
    ctx.attachment(attachment.filename ?? 'attachment');
    ctx.type = attachment.mimeType;
    ctx.body = bytesOf(attachment);
  });
}

/** Newest first. */
async function recent(outboxDir: string) {
  const found = (await ifThere(readdir(outboxDir))) ?? [];
  const files = found.filter((file) => /^[A-Za-z0-9-]+\.eml$/.test(file));
  const dated = await Promise.all(
    files.map(async (file) => ({ file, writtenAtMs: (await stat(join(outboxDir, file))).mtimeMs })),
  );
  const newest = dated.sort((a, b) => b.writtenAtMs - a.writtenAtMs).slice(0, listed);
  return Promise.all(
    newest.map(async ({ file, writtenAtMs }) => ({
      name: file.slice(0, -'.eml'.length),
      writtenAtMs,
      ...shown(await PostalMime.parse(await readFile(join(outboxDir, file)))),
    })),
  );
}

async function readEmail(ctx: RouterContext, outboxDir: string): Promise<Email> {
  const { name = '' } = ctx.params;
  const isName = /^[A-Za-z0-9-]{1,200}$/.test(name);
  const bytes = isName ? await ifThere(readFile(join(outboxDir, `${name}.eml`))) : null;
  return PostalMime.parse(bytes ?? ctx.throw(404, 'There is no such email here'));
}

function shown({ from, to = [], subject = '', date = '', messageId = '', text = '', attachments }: Email) {
  return {
    from: from?.name ? `${from.name} <${from.address}>` : (from?.address ?? ''),
    to: to.map(({ address }) => address).join(', '),
    subject,
    sentAt: Number.isNaN(Date.parse(date)) ? date : malaysianTime(Date.parse(date)),
    messageId,
    text,
    attachments: attachments.map((attachment) => ({
      name: attachment.filename ?? 'attachment',
      sizeKb: Math.ceil(bytesOf(attachment).length / 1024),
    })),
  };
}

function bytesOf({ content }: Email['attachments'][number]): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer);
}

/** Null if there is no such file or folder. */
async function ifThere<Content>(read: Promise<Content>): Promise<Content | null> {
  return await read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
