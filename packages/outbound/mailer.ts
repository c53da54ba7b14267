/** Sends emails through an SMTP server, or writes them as files into a folder where no server is configured. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type Nodemailer from 'nodemailer';

export type Mail = {
  /** The local part of Message-ID, the same at every attempt, so that a repeat is recognised. Letters, digits, `-`. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  attachment?: { name: string; type: string; content: Buffer };
};

/** A reason is a few words, without any address or quotation. */
export type MailOutcome =
  | { kind: 'sent'; messageId: string }
  /** Another attempt may succeed. `isServerDown`: other emails fail as well. */
  | { kind: 'failed'; reason: string; isServerDown: boolean }
  /** This email will never be accepted. */
  | { kind: 'refused'; reason: string };

export type Mailer = { send(mail: Mail, signal: AbortSignal): Promise<MailOutcome> };

/** One address without a name, comment or quotes: no character in it has a meaning in a header or in SMTP. */
const addressPattern = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/;
const idPattern = /^[A-Za-z0-9-]+$/;

const connectTimeoutMs = 10_000;
const greetingTimeoutMs = 20_000;

type MailSettings = {
  /** With user and password where the server asks for them; null: emails become files in the outbox. */
  smtpUrl: string | null;
  /** Sends nothing, and above all no password, over smtp:// to a server that offers no TLS. */
  requireTls: boolean;
  from: { name: string; address: string };
};

/** Emails go to `outboxDir`, as `<id>.eml`, where there is no `smtpUrl`. */
export function createMailer(dependencies: {
  /** May change. */
  mail: MailSettings;
  outboxDir: string;
  runtime: Pick<Runtime, 'uuid'>;
}): Mailer {
  const { mail: settings, outboxDir, runtime } = dependencies;
  const deliverBy = ({ smtpUrl, requireTls }: MailSettings) =>
    smtpUrl === null ? writeTo(outboxDir, runtime) : sendThrough(smtpUrl, requireTls);
  let used = { ...settings };
  let deliver = deliverBy(used);
  return {
    async send(mail, signal) {
      if (!idPattern.test(mail.id)) throw new Error('An email needs an id of letters, digits and hyphens');
      if (!addressPattern.test(mail.to)) return { kind: 'refused', reason: 'not an email address' };
      if (settings.smtpUrl !== used.smtpUrl) {
        used = { ...settings };
        deliver = deliverBy(used);
      }
      return deliver(messageOf(mail, settings.from), signal);
    },
  };
}

type Deliver = (message: ReturnType<typeof messageOf>, signal: AbortSignal) => Promise<MailOutcome>;

function messageOf({ id, to, subject, text, html, attachment }: Mail, from: MailSettings['from']) {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    id,
    messageId: `<${id}@${domain}>`,
    from,
    to: { name: '', address: to },
    // Explicit, so that it is not read from the headers.
    envelope: { from: from.address, to: [to] },
    subject,
    text,
    html,
    attachments: attachment
      ? [{ filename: attachment.name, contentType: attachment.type, content: attachment.content }]
      : [],
    // Keeps holiday notices and other automatic replies away.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Makes a transport for the first email: nodemailer takes 60 ms of CPU to load, and 6 MB. */
function forFirstEmail<Transport>(
  create: (nodemailer: typeof Nodemailer) => Transport,
): () => Promise<Transport> {
  let transport: Promise<Transport> | undefined;
  return () => {
    transport ??= import('nodemailer')
      .then((loaded) => create(loaded.default))
      .catch((error) => {
        transport = undefined;
        throw error;
      });
    return transport;
  };
}

function sendThrough(url: string, requireTls: boolean): Deliver {
  // Parameters in the URL override these. How long a server may be silent is up to the caller's signal: one that looks for
  // viruses before it answers has the email already, and would get it again.
  const transport = forFirstEmail((nodemailer) =>
    nodemailer.createTransport({
      url,
      requireTLS: requireTls,
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: greetingTimeoutMs,
    }),
  );
  return async ({ id: _, ...message }, signal) => {
    try {
      await (await transport()).sendMail({ ...message, signal });
      return { kind: 'sent', messageId: message.messageId };
    } catch (error) {
      return failureOf(error);
    }
  };
}

type SmtpError = { code?: string; command?: string; response?: string; responseCode?: number };

/**
 * Only a 5xx about this recipient or this content means that the email is refused. The same code about our login, our
 * sender, the mail system, its routes or its protocol, or our right to send (5.3.x, 5.4.x, 5.5.x and 5.7.x of RFC 3463, such
 * as "daily sending limit exceeded" or "relay access denied") may be gone later: the email waits.
 */
function failureOf(error: unknown): MailOutcome {
  const { code, command, response = '', responseCode } = error as SmtpError;
  if (code === undefined || command === 'API') throw error;
  // nodemailer replaces the codes of TLS.
  const why = /certificate/i.test(reasonOf(error)) ? 'certificate not trusted' : code;
  if (responseCode === undefined)
    return { kind: 'failed', reason: `no answer from the mail server: ${why}`, isServerDown: true };
  const reason = `the mail server answered ${responseCode} to ${command}`;
  const isAboutThis = command === 'RCPT TO' || command === 'DATA';
  const isAboutOthers = /^5\d\d[ -]5\.[3457]\.\d/.test(response);
  return isAboutThis && responseCode >= 500 && !isAboutOthers
    ? { kind: 'refused', reason }
    : { kind: 'failed', reason, isServerDown: !isAboutThis };
}

function writeTo(folder: string, runtime: Pick<Runtime, 'uuid'>): Deliver {
  const transport = forFirstEmail((nodemailer) =>
    nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  );
  return async ({ id, ...message }) => {
    const { message: content } = await (await transport()).sendMail(message);
    // Written elsewhere first, so that nobody reads an incomplete email; under its id, because a crash may leave it there.
    const draft = join(folder, `.${id}-${runtime.uuid()}`);
    try {
      makeFolder(folder, 0o700);
      await writeFile(draft, content, { mode: 0o600, flush: true });
      await rename(draft, join(folder, `${id}.eml`));
      return { kind: 'sent', messageId: message.messageId };
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      const { code = 'error' } = error as { code?: string };
      return { kind: 'failed', reason: `the outbox cannot be written: ${code}`, isServerDown: true };
    }
  };
}
