// Sending emails: to a real SMTP server that takes, refuses, delays, drops or hangs, and to an outbox of files.
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createMailer, type Mail } from '@ledger/outbound/mailer.ts';
import test, { type ExecutionContext } from 'ava';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { temporaryFolder } from '../embedded/helpers.ts';
import { runWithFewFiles } from '../support/few-files.ts';
import { testRuntime } from '../support/runtime.ts';

const settings = { requireTls: false, from: { name: 'Payments', address: 'no-reply@ledger.example' } };
const pdf = Buffer.from('%PDF-1.7\n\u0000\xff');

const mail = (over: Partial<Mail> = {}): Mail => ({
  id: '0123456789ABCDEFGHJKMNPQRS-email',
  to: 'aminah@example.my',
  subject: 'Official receipt R-1 – Example City Council',
  text: 'RM 120.50\n.\nÀ 张伟',
  html: '<p>RM 120.50</p>',
  attachment: { name: 'Official-receipt-R-1.pdf', type: 'application/pdf', content: pdf },
  ...over,
});

type Received = { from: string; to: string[]; source: string };

async function startServer(t: ExecutionContext, options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, session, done) {
      const source = await text(stream);
      const { mailFrom, rcptTo } = session.envelope;
      received.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        source,
      });
      done();
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { received, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

const patient = () => AbortSignal.timeout(60_000);
const sendTo = (smtpUrl: string, over: Partial<Mail> = {}, signal = patient()) =>
  createMailer({
    runtime: testRuntime(),
    mail: { ...settings, smtpUrl },
    outboxDir: '/dev/null/no-outbox',
  }).send(mail(over), signal);

const answering = (responseCode: number) =>
  Object.assign(new Error('aminah@example.my is not welcome'), { responseCode });

test('an email arrives with both bodies and the PDF, under the same id at every attempt', async (t) => {
  const { url, received } = await startServer(t);
  const messageId = '<0123456789ABCDEFGHJKMNPQRS-email@ledger.example>';
  t.deepEqual(await sendTo(url), { kind: 'sent', messageId });
  t.deepEqual(await sendTo(url), { kind: 'sent', messageId });
  t.is(received.length, 2);
  for (const { source, ...envelope } of received) {
    t.deepEqual(envelope, { from: 'no-reply@ledger.example', to: ['aminah@example.my'] });
    const parsed = await PostalMime.parse(source);
    t.is(parsed.messageId, messageId);
    t.is(parsed.subject, mail().subject);
    t.deepEqual(parsed.from, { name: 'Payments', address: 'no-reply@ledger.example' });
    t.deepEqual(parsed.to, [{ name: '', address: 'aminah@example.my' }]);
    t.is(parsed.text?.trim(), mail().text);
    t.is(parsed.html?.trim(), mail().html);
    const [attached, ...others] = parsed.attachments;
    t.is(others.length, 0);
    t.is(attached?.filename, 'Official-receipt-R-1.pdf');
    t.is(attached?.mimeType, 'application/pdf');
    t.deepEqual(Buffer.from(attached?.content as ArrayBuffer), pdf);
    t.regex(source, /^Auto-Submitted: auto-generated\r?$/m);
  }
});

test('no text becomes a header or another recipient', async (t) => {
  const { url, received } = await startServer(t);
  const poison = 'R-1\r\nBcc: eve@example.org\r\n\r\nHello\u2028Bcc: eve@example.org';
  const attachment = {
    type: 'application/pdf',
    content: Buffer.from('%PDF'),
    name: `a"; x=y\r\nBcc: eve@example.org\r\n.pdf`,
  };
  t.is(
    (await sendTo(url, { subject: poison, text: `${poison}\r\n.\r\nRCPT TO:<eve@example.org>`, attachment }))
      .kind,
    'sent',
  );
  t.deepEqual(
    received.map(({ to }) => to),
    [['aminah@example.my']],
  );
  const { headers } = await PostalMime.parse(received[0]?.source ?? '');
  t.false(headers.some(({ key }) => key === 'bcc' || key === 'cc'));
});

for (const to of [
  '',
  'aminah',
  'aminah@example.my, eve@example.org',
  'aminah@example.my;eve@example.org',
  'aminah@example.my\r\nRCPT TO:<eve@example.org>',
  'Aminah <aminah@example.my>',
  '"a b"@example.my',
  '<aminah@example.my>',
  'aminah@[127.0.0.1]',
  'aminah@example.my\u0000',
  'ami\u0301nah@example.my',
  'list: aminah@example.my;',
])
  test(`${JSON.stringify(to)} is not written to`, async (t) => {
    const { url, received } = await startServer(t);
    t.deepEqual(await sendTo(url, { to }), { kind: 'refused', reason: 'not an email address' });
    t.is(received.length, 0);
  });

test('a 5xx about a recipient or a content refuses the email', async (t) => {
  for (const answer of ['Not welcome', '5.1.1 User unknown', '5.2.1 Mailbox disabled']) {
    const refusal = Object.assign(new Error(answer), { responseCode: 550 });
    const recipient = await startServer(t, { onRcptTo: (_, __, done) => done(refusal) });
    t.deepEqual(await sendTo(recipient.url), {
      kind: 'refused',
      reason: 'the mail server answered 550 to RCPT TO',
    });
  }
  const content = await startServer(t, {
    onData: (stream, _, done) => stream.resume().on('end', () => done(answering(554))),
  });
  t.deepEqual(await sendTo(content.url), { kind: 'refused', reason: 'the mail server answered 554 to DATA' });
});

for (const [responseCode, answer] of [
  [554, '5.7.1 <aminah@example.my>: Relay access denied'],
  [550, '5.4.5 Daily user sending limit exceeded'],
  [552, '5.3.1 Mail system full'],
] as const)
  test(`a server that answers “${answer}” refuses no email`, async (t) => {
    const denied = Object.assign(new Error(answer), { responseCode });
    const relay = await startServer(t, { onRcptTo: (_, __, done) => done(denied) });
    t.deepEqual(await sendTo(relay.url), {
      kind: 'failed',
      reason: `the mail server answered ${responseCode} to RCPT TO`,
      isServerDown: false,
    });
  });

test('greylisting and a full mailbox fail only this email, and the next attempt succeeds', async (t) => {
  let tries = 0;
  const { url, received } = await startServer(t, {
    onRcptTo(_, __, done) {
      tries += 1;
      done(tries === 1 ? answering(451) : null);
    },
  });
  t.deepEqual(await sendTo(url), {
    kind: 'failed',
    reason: 'the mail server answered 451 to RCPT TO',
    isServerDown: false,
  });
  t.is((await sendTo(url)).kind, 'sent');
  t.is(received.length, 1);
});

test('a fault between us and the server gives up no email', async (t) => {
  const failed = (reason: string) => ({ kind: 'failed', reason, isServerDown: true });
  const sender = await startServer(t, { onMailFrom: (_, __, done) => done(answering(550)) });
  t.deepEqual(await sendTo(sender.url), failed('the mail server answered 550 to MAIL FROM') as never);
  const connection = await startServer(t, { onConnect: (_, done) => done(answering(554)) });
  t.deepEqual(await sendTo(connection.url), failed('the mail server answered 554 to CONN') as never);
  const login = await startServer(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_, __, done) => done(answering(535)),
  });
  const withUser = login.url.replace('//', '//ledger:wrong@');
  t.deepEqual(await sendTo(withUser), failed('the mail server answered 535 to AUTH PLAIN') as never);
  const leaving = await startServer(t, { onRcptTo: (_, __, done) => done(answering(421)) });
  t.deepEqual(await sendTo(leaving.url), failed('the mail server answered 421 to CONN') as never);
});

test('nothing is sent unencrypted where TLS is required, unless the URL allows it', async (t) => {
  const { url, received } = await startServer(t);
  const strict = (smtpUrl: string) =>
    createMailer({
      runtime: testRuntime(),
      mail: { ...settings, requireTls: true, smtpUrl },
      outboxDir: '/dev/null/no-outbox',
    }).send(mail(), patient());
  t.like(await strict(url), { kind: 'failed', isServerDown: true });
  t.is(received.length, 0);
  t.is((await strict(`${url}?requireTLS=false`)).kind, 'sent');
});

test('a server whose certificate nobody has signed is told from one that does not answer', async (t) => {
  const { url } = await startServer(t, { disabledCommands: [] });
  t.deepEqual(await sendTo(url), {
    kind: 'failed',
    reason: 'no answer from the mail server: certificate not trusted',
    isServerDown: true,
  });
});

test('a server that is absent, hangs up or never answers', async (t) => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const silentUrl = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const connected = once(silent, 'connection');
  const patience = new AbortController();
  const unanswered = sendTo(silentUrl, {}, patience.signal);
  const [socket] = await connected;
  const closed = once(socket.resume(), 'close');
  patience.abort();
  t.deepEqual(await unanswered, {
    kind: 'failed',
    reason: 'no answer from the mail server: EABORT',
    isServerDown: true,
  });
  // Nothing is left behind that could still send it.
  await closed;
  silent.close();
  await once(silent, 'close');
  t.deepEqual(await sendTo(silentUrl), {
    kind: 'failed',
    reason: 'no answer from the mail server: ESOCKET',
    isServerDown: true,
  });

  const dropping = createServer((it) => it.end('220 hello\r\n'));
  dropping.listen(0, '127.0.0.1');
  await once(dropping, 'listening');
  t.teardown(() => dropping.close());
  const outcome = await sendTo(`smtp://127.0.0.1:${(dropping.address() as AddressInfo).port}`);
  t.like(outcome, { kind: 'failed', isServerDown: true });
});

test('a server that has the email may take as long to say so as the caller waits', async (t) => {
  const { url } = await startServer(t);
  const limitsMs: number[] = [];
  const { setTimeout } = Socket.prototype;
  Socket.prototype.setTimeout = function (this: Socket, ms: number, ...rest) {
    if (this.remotePort === Number(URL.parse(url)?.port)) limitsMs.push(ms);
    return setTimeout.call(this, ms, ...rest);
  };
  t.teardown(() => Object.assign(Socket.prototype, { setTimeout }));
  t.is((await sendTo(url)).kind, 'sent');
  const limited = limitsMs.filter((ms) => ms > 0);
  t.true(limited.length > 0);
  // RFC 5321, 4.5.3.2.6: ten minutes, because a client that gives up sooner makes copies of the email.
  t.true(limited.every((ms) => ms >= 600_000));
});

test('without a server each email becomes a complete file that only its owner can read', async (t) => {
  const outboxDir = join(await temporaryFolder(t), 'data', 'outbox');
  const mailer = createMailer({ runtime: testRuntime(), mail: { ...settings, smtpUrl: null }, outboxDir });
  const messageId = '<0123456789ABCDEFGHJKMNPQRS-email@ledger.example>';
  const sent = await Promise.all([1, 2, 3].map(() => mailer.send(mail(), patient())));
  t.deepEqual(sent, Array(3).fill({ kind: 'sent', messageId }));
  t.deepEqual(await readdir(outboxDir), ['0123456789ABCDEFGHJKMNPQRS-email.eml']);
  const file = join(outboxDir, '0123456789ABCDEFGHJKMNPQRS-email.eml');
  t.is((await stat(file)).mode & 0o777, 0o600);
  t.is((await stat(outboxDir)).mode & 0o777, 0o700);
  const parsed = await PostalMime.parse(await readFile(file));
  t.is(parsed.text?.trim(), mail().text);
  t.deepEqual(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer), pdf);
});

test('another mail server is used from the next email on', async (t) => {
  const [first, second] = [await startServer(t), await startServer(t)];
  const changing = { ...settings, smtpUrl: first.url };
  const mailer = createMailer({ runtime: testRuntime(), mail: changing, outboxDir: '/dev/null/no-outbox' });
  await mailer.send(mail(), patient());
  changing.smtpUrl = second.url;
  await mailer.send(mail(), patient());
  t.deepEqual([first.received.length, second.received.length], [1, 1]);
});

test('an outbox that cannot be written leaves no partial file', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'outbox'), 'a file');
  const mailer = createMailer({
    runtime: testRuntime(),
    mail: { ...settings, smtpUrl: null },
    outboxDir: join(folder, 'outbox'),
  });
  t.deepEqual(await mailer.send(mail(), patient()), {
    kind: 'failed',
    reason: 'the outbox cannot be written: EEXIST',
    isServerDown: true,
  });
  const outboxDir = join(folder, 'other');
  await mkdir(join(outboxDir, `${mail().id}.eml`), { recursive: true });
  t.like(
    await createMailer({ runtime: testRuntime(), mail: { ...settings, smtpUrl: null }, outboxDir }).send(
      mail(),
      patient(),
    ),
    {
      kind: 'failed',
    },
  );
  t.deepEqual(await readdir(outboxDir), [`${mail().id}.eml`]);
});

test('an id cannot leave the outbox', async (t) => {
  const outboxDir = await temporaryFolder(t);
  const mailer = createMailer({ runtime: testRuntime(), mail: { ...settings, smtpUrl: null }, outboxDir });
  await t.throwsAsync(mailer.send(mail({ id: '../evil' }), patient()));
});

test('emails are sent again once the process can open files again', async (t) => {
  const folder = await temporaryFolder(t);
  const said = await runWithFewFiles(`
    const { createMailer } = await import('./packages/outbound/mailer.ts');
    const mailer = createMailer({
      mail: { smtpUrl: null, requireTls: false, from: { name: '', address: 'ledger@example.my' } },
      outboxDir: ${JSON.stringify(folder)},
      runtime: { uuid: () => '1' },
    });
    const email = { id: 'one', to: 'payer@example.my', subject: '', text: '', html: '' };
    const send = async () => {
      const { kind } = await mailer.send(email, AbortSignal.timeout(5_000)).catch(() => ({ kind: 'threw' }));
      console.log(kind);
    };
    exhaust();
    await send();
    recover();
    await send();`);
  t.not(said[0], 'sent');
  t.is(said[1], 'sent');
});
