/** Through which server emails go, and from whom they are. */
import type { EnvironmentReader } from './environment.ts';

export type MailConfig = {
  /** smtp:// or smtps://, with user and password where the server asks for them; null: emails become files in the outbox. */
  smtpUrl: string | null;
  /** Sends nothing, and above all no password, over smtp:// to a server that offers no TLS. */
  requireTls: boolean;
  from: { name: string; address: string };
};

/** Adds its faults to those of `env`. In production emails that only become files are a fault. */
export function readMail(env: EnvironmentReader, production: boolean): MailConfig {
  const smtpUrl = production
    ? env.required(
        'SMTP_URL',
        'receipts and links to sign in are sent through it, such as smtps://user:password@mail.example',
      )
    : env.text('SMTP_URL');
  const sender = production
    ? env.required(
        'MAIL_FROM',
        'the sender of receipts and of links to sign in, such as Payments <no-reply@agency.example>',
      )
    : env.text('MAIL_FROM');
  const from = readSender(sender);
  if (sender !== '' && from === null)
    env.faults.push('MAIL_FROM must be an email address, or a name and <an email address>');
  return {
    smtpUrl: env.url('SMTP_URL', smtpUrl, 'smtp:', 'smtps:') || null,
    requireTls: production,
    from: from ?? { name: '', address: '' },
  };
}

function readSender(text: string): MailConfig['from'] | null {
  const [, name = '', inBrackets, alone] = /^(?:([^<>"@\p{Cc}]*)<([^<>]+)>|([^<>\s]+))$/u.exec(text) ?? [];
  const address = inBrackets ?? alone ?? '';
  return /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$/.test(address)
    ? { name: name.trim(), address }
    : null;
}
