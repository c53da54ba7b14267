// The mailbox shows the emails in the outbox, and they cannot affect the page.
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startGateway, temporaryFolder } from './helpers.ts';

const eml = (subject: string, html: string) =>
  [
    'From: Payments <no-reply@ledger.example>',
    'To: aminah@example.my',
    `Subject: ${subject}`,
    'Message-ID: <ABC-email@ledger.example>',
    'Date: Fri, 20 Nov 2026 01:04:30 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=outer',
    '',
    '--outer',
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'In plain text: RM 120.50 <b>',
    '--inner',
    'Content-Type: text/html; charset=utf-8',
    '',
    html,
    '--inner--',
    '--outer',
    'Content-Type: application/pdf; name="Official receipt.pdf"',
    'Content-Disposition: attachment; filename="Official receipt.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from('%PDF-1.7').toString('base64'),
    '--outer--',
    '',
  ].join('\r\n');

async function startMailbox(t: ExecutionContext, emails: Record<string, string>) {
  const outboxDir = join(await temporaryFolder(t), 'outbox');
  await mkdir(outboxDir);
  let second = 0;
  for (const [file, content] of Object.entries(emails)) {
    second += 1;
    await writeFile(join(outboxDir, file), content);
    await utimes(join(outboxDir, file), second, second);
  }
  const { url } = await startGateway(t, undefined, outboxDir);
  return { outboxDir, url: `${url}/mailbox` };
}

const html = '<!doctype html><html><head></head><body><a href="https://pay.example/">Open</a></body></html>';

test('emails are listed, newest first, without drafts', async (t) => {
  const { url } = await startMailbox(t, {
    'A-email.eml': eml('First', html),
    'B-email.eml': eml('Second', html),
    '.half-written': eml('Draft', html),
  });
  const page = await (await fetch(url)).text();
  t.true(page.indexOf('Second') < page.indexOf('First'));
  t.true(page.includes('href="/mailbox/B-email"'));
  t.true(page.includes('aminah@example.my'));
  t.false(page.includes('Draft'));
});

test('a missing outbox is an empty mailbox', async (t) => {
  const { url } = await startGateway(t);
  t.true((await (await fetch(`${url}/mailbox`)).text()).includes('No emails yet'));
});

test('an email is shown with its text and its attachment', async (t) => {
  const { url } = await startMailbox(t, { 'A-email.eml': eml('Receipt', html) });
  const page = await (await fetch(`${url}/A-email`)).text();
  for (const part of [
    'Payments &lt;no-reply@ledger.example&gt;',
    '&lt;ABC-email@ledger.example&gt;',
    '2026-11-20 09:04:30',
    'In plain text: RM 120.50 &lt;b&gt;',
    'Official receipt.pdf',
  ])
    t.true(page.includes(part), part);
  const file = await fetch(`${url}/A-email/attachments/0`);
  t.is(file.headers.get('content-type'), 'application/pdf');
  t.is(file.headers.get('content-disposition'), 'attachment; filename="Official receipt.pdf"');
  t.is(await file.text(), '%PDF-1.7');
});

test('its HTML is isolated: no scripts, no other hosts, no forms, no access to the surrounding page', async (t) => {
  const evil = `${html}<script>parent.document.title='x'</script><img src="https://example.org/x">`;
  const { url } = await startMailbox(t, { 'A-email.eml': eml('<script>alert(1)</script>', evil) });
  const { headers } = await fetch(`${url}/A-email/html`);
  const policy = headers.get('content-security-policy') ?? '';
  t.regex(policy, /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/);
  t.notRegex(policy, /script-src|allow-scripts|allow-same-origin|https:/);
  t.is(headers.get('x-content-type-options'), 'nosniff');
  const page = await (await fetch(`${url}/A-email`)).text();
  t.notRegex(page, /<script/);
  t.regex(page, /<iframe[^>]* sandbox="allow-popups allow-popups-to-escape-sandbox">/);
  t.false((await (await fetch(url)).text()).includes('<script'));
});

test('no file outside the outbox is read', async (t) => {
  const { url, outboxDir } = await startMailbox(t, { 'A-email.eml': eml('Receipt', html) });
  await writeFile(join(outboxDir, '..', 'secret.eml'), eml('Secret', html));
  await symlink(join(outboxDir, '..', 'secret.eml'), join(outboxDir, 'x.y.eml'));
  for (const name of [
    'B-email',
    '..%2fsecret',
    '%2e%2e%2fsecret',
    '..%5csecret',
    'x.y',
    'A-email.eml',
    '%00',
    'a'.repeat(5_000),
  ]) {
    const response = await fetch(`${url}/${name}`);
    t.is(response.status, 404, name);
  }
  for (const index of ['1', '-1', 'x', '1e99', '__proto__', 'length'])
    t.is((await fetch(`${url}/A-email/attachments/${index}`)).status, 404, index);
});

test('a file that is not an email is still shown', async (t) => {
  const { url } = await startMailbox(t, { 'A.eml': '', 'B.eml': '\u0000\xff: not\r\n\r\nan email' });
  t.is((await fetch(url)).status, 200);
  for (const name of ['A', 'B', 'A/html']) t.is((await fetch(`${url}/${name}`)).status, 200, name);
});
