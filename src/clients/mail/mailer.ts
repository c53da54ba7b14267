/** Sends emails through an SMTP server, or puts them as files into a folder where there is none. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import nodemailer from 'nodemailer';
import type { Config } from '../../config/config.ts';

export type Mail = {
  /** The local part of Message-ID, the same at every try, so that a repeat is recognised. Letters, digits and `-`. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  attachment?: { name: string; type: string; content: Buffer };
};

/** Reasons are a few words that name no address and quote nothing. */
export type MailOutcome =
  | { kind: 'sent'; messageId: string }
  /** Another try may go through. `isServerDown`: so it is with any other email. */
  | { kind: 'failed'; reason: string; isServerDown: boolean }
  /** For good: this email will never be taken. */
  | { kind: 'refused'; reason: string };

export type Mailer = { send(mail: Mail, signal: AbortSignal): Promise<MailOutcome> };

/** One address without a name, comment or quotes: nothing in it means anything to a header or to SMTP. */
const addressPattern = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/;
const idPattern = /^[A-Za-z0-9-]+$/;

const connectTimeoutMs = 10_000;
const silenceTimeoutMs = 20_000;

/** `outboxDir` takes the emails as `<id>.eml` where there is no `smtpUrl`. */
export function createMailer({
  mail: { smtpUrl, requireTls, from },
  outboxDir,
}: {
  mail: Config['mail'];
  outboxDir: string;
}): Mailer {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const deliver = smtpUrl === null ? writeTo(outboxDir) : sendThrough(smtpUrl, requireTls);
  return {
    async send(mail, signal) {
      if (!idPattern.test(mail.id)) throw new Error('An email needs an id of letters, digits and hyphens');
      if (!addressPattern.test(mail.to)) return { kind: 'refused', reason: 'not an email address' };
      const messageId = `<${mail.id}@${domain}>`;
      return deliver({ mail, signal, message: messageOf(mail, from, messageId), messageId });
    },
  };
}

type Message = ReturnType<typeof messageOf>;
type Deliver = (delivery: {
  mail: Mail;
  signal: AbortSignal;
  message: Message;
  messageId: string;
}) => Promise<MailOutcome>;

function messageOf(mail: Mail, from: Config['mail']['from'], messageId: string) {
  return {
    messageId,
    from,
    to: { name: '', address: mail.to },
    // Not left to be read from the headers.
    envelope: { from: from.address, to: [mail.to] },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    attachments: mail.attachment
      ? [
          {
            filename: mail.attachment.name,
            contentType: mail.attachment.type,
            content: mail.attachment.content,
          },
        ]
      : [],
    // Holiday notices and the like stay away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function sendThrough(url: string, requireTls: boolean): Deliver {
  // The URL's own parameters win over these.
  const transport = nodemailer.createTransport({
    url,
    requireTLS: requireTls,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: silenceTimeoutMs,
    socketTimeout: silenceTimeoutMs,
  });
  return async ({ message, messageId, signal }) => {
    try {
      await transport.sendMail({ ...message, signal });
      return { kind: 'sent', messageId };
    } catch (error) {
      return failureOf(error);
    }
  };
}

/**
 * Refused for good is only what the server says of this recipient or this content (5xx): the same code to our login
 * or our sender is a fault of the configuration, and the email waits until it is mended.
 */
function failureOf(error: unknown): MailOutcome {
  const { code, command, responseCode } = error as { code?: string; command?: string; responseCode?: number };
  if (code === undefined || command === 'API') throw error;
  if (responseCode === undefined) {
    const reason = `no answer from the mail server: ${code}`;
    return { kind: 'failed', reason, isServerDown: true };
  }
  const reason = `the mail server answered ${responseCode} to ${command}`;
  const isAboutThis = command === 'RCPT TO' || command === 'DATA';
  return isAboutThis && responseCode >= 500
    ? { kind: 'refused', reason }
    : { kind: 'failed', reason, isServerDown: !isAboutThis };
}

function writeTo(folder: string): Deliver {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return async ({ mail, message, messageId }) => {
    const { message: content } = await transport.sendMail(message);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeWhole(join(folder, `${mail.id}.eml`), content);
      return { kind: 'sent', messageId };
    } catch (error) {
      const { code = 'error' } = error as { code?: string };
      return { kind: 'failed', reason: `the outbox cannot be written: ${code}`, isServerDown: true };
    }
  };
}

/** Written beside its place and renamed, so that nobody reads half an email. */
async function writeWhole(file: string, content: Buffer | Readable): Promise<void> {
  const draft = join(dirname(file), `.${randomUUID()}`);
  try {
    await writeFile(draft, content, { mode: 0o600, flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
