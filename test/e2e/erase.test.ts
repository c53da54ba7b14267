// `ledger erase` as an operator meets it: afterwards no file of the data folder holds the person any more.
import { randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { freePort } from '../../packages/embedded/free-port.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { openStore } from '../audit/ledger.ts';
import { postgresPids, query, until } from '../embedded/helpers.ts';
import { hasPoppler, textOf } from '../receipts/pdf-reader.ts';
import { runLedger } from '../support/ledger.ts';
import { folderWithCluster } from '../support/postgres.ts';
import { wholeFile } from '../support/whole-file.ts';
import {
  gatewayResult,
  gatewaySecret,
  paymentRequest,
  postResult,
  requestPayment,
  startRole,
} from './ledger.ts';

const port = await freePort();
const folder = await folderWithCluster(wholeFile);
const environment = {
  PORT: String(port),
  SANDBOX_PORT: String(await freePort()),
  DATA_DIR: folder,
  GATEWAY_SECRET: gatewaySecret,
};
/**
 * The folder is of an earlier release: without a key for personal data, and with a payment as version 1 of the schema
 * stored it, with its own hashes. One item is reported, the rest is still due.
 */
const oldKeys = {
  TRANSACTION_ID_KEY: 'a'.repeat(64),
  GATEWAY_SECRET: gatewaySecret,
  SEAL_KEY: '5ea1'.repeat(16),
};
await writeFile(join(folder, 'keys.json'), JSON.stringify(oldKeys));
const oldId = '5K3M9QW2Z7TCV8XN4RBJ6HYDFE';
const oldTypes = ['PaymentRequested', 'PaymentMethodChosen', 'PaymentSucceeded', 'CallbackDelivered'];
const old = await openStore(join(folder, 'eventstore.db'));
const oldEvents = oldTypes.map(async (type) => {
  const path = new URL(`../events/golden/v1/${type}.json`, import.meta.url);
  return { ...JSON.parse(await readFile(path, 'utf8')), id: randomUUID() };
});
await old.eventStore.append(paymentStream(oldId), await Promise.all(oldEvents), 'no_stream');
await old.close();

const serve = await startRole(wholeFile, ['serve'], environment, (output) => output.includes('is running'));
const baseUrl = `http://localhost:${port}`;

const person = {
  name: 'Zulaikha binti Contoh',
  ic_no: '880202-08-4321',
  email: 'zulaikha.contoh@example.my',
};
/** However it may have been written: as given, in capitals by the bank, in pieces, as one number. */
const traces = ['zulaikha', '880202-08-4321', '880202084321', 'taman melati'];

/**
 * The files in which one of the traces is found. Left out is what plays other systems in development: the gateway, with
 * what it was sent to collect the money.
 */
async function filesWithTraces(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('sandbox-gateway.db'))
    .map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.map(async (file) => {
      const content = (await readFile(file).catch(() => Buffer.alloc(0))).toString('latin1').toLowerCase();
      return traces.some((trace) => content.includes(trace)) ? [file.slice(folder.length + 1)] : [];
    }),
  );
  return found.flat();
}

async function payPerson(reference: string): Promise<string> {
  const asked = await requestPayment(
    baseUrl,
    paymentRequest(reference, { ...person, address_1: '7 Taman Melati', extra: { guardian: person.name } }),
  );
  const { data } = (await asked.json()) as { data: { transaction_id: string } };
  const result = gatewayResult(data.transaction_id, { BUYER_NAME: person.name.toUpperCase() });
  await postResult(baseUrl, result);
  return data.transaction_id;
}

/** Lets the superuser of the embedded PostgreSQL in, which only its own operating system account can do. */
async function administratorOf(databaseUrl: string): Promise<string> {
  await appendFile(join(folder, 'postgres/data/pg_hba.conf'), 'host all postgres 127.0.0.1/32 trust\n');
  process.kill((await postgresPids(folder)).postmaster, 'SIGHUP');
  const url = new URL(databaseUrl);
  url.username = 'postgres';
  await until(() => query(url.href, 'select 1').catch(() => false as const));
  return url.href;
}

const outbox = () => readdir(join(folder, 'outbox')).catch((): string[] => []);
const ledger = (...args: string[]) => runLedger(args, environment);

test.serial('a person is erased by IC number, and found nowhere in the data folder', async (t) => {
  const ids = [await payPerson('ERASE-1'), await payPerson('ERASE-2')];
  const emails = ids.map((id) => `${id}-email.eml`);
  await until(async () => {
    const names = await outbox();
    return emails.every((email) => names.includes(email));
  });
  const { DATABASE_URL: url = '' } = JSON.parse(await readFile(join(folder, 'endpoints.json'), 'utf8'));
  const administrator = await administratorOf(url);
  // Otherwise old files of the write-ahead log are kept for reuse, with what they hold.
  await query(administrator, 'alter system set wal_recycle = off');
  await query(administrator, 'select pg_reload_conf()');
  await query(administrator, 'checkpoint');
  t.true((await filesWithTraces()).length > 0, 'before, the details tables and the outbox hold it');

  // Of no payment: its sender made up the transaction.
  const strange = gatewayResult('0'.repeat(26), { BUYER_NAME: person.name, BUYER_ID: person.ic_no });
  await postResult(baseUrl, strange);
  const found = await ledger('subject-access', '--payer', '880202084321');
  t.is(found.code, 0, found.output);
  const held = JSON.parse(found.stdout) as {
    payments: { transactionId: string; events: object[] }[];
    unmatchedResults: { id: string; received: object }[];
  };
  t.deepEqual(held.payments.map(({ transactionId }) => transactionId).toSorted(), ids.toSorted());
  t.regex(JSON.stringify(held.payments), /Zulaikha binti Contoh/);
  t.is(held.unmatchedResults.length, 1);
  const nobody = 'No payment and no unmatched result of this person was found.\n';
  t.like(await ledger('erase', '--payer', 'nobody@example.my'), { code: 1, stderr: nobody });
  const nothing = await ledger('subject-access', '--payer', 'nobody@example.my');
  t.like(nothing, { code: 0, stderr: nobody });
  t.deepEqual(JSON.parse(nothing.stdout).payments, []);
  t.like(held.unmatchedResults[0]?.received, { BUYER_NAME: person.name, BUYER_ID: person.ic_no });

  const logged = await until(async () => {
    const rows = await query(url, `select * from access_log.access_log order by position`);
    return rows.length >= 4 && rows;
  });
  const named = logged.map(({ transaction_id }) => transaction_id).filter((each) => each !== null);
  t.deepEqual(named.toSorted(), ids.toSorted(), 'whoever asks about one of the payments finds it');
  t.like(logged[0], { what: 'subjectAccess', detail: '2 payments, 1 unmatched result' });
  t.regex(String(logged[0]?.user_id), /^staff:/);

  const { code, output } = await ledger('erase', '--payer', person.ic_no, '--yes');
  t.is(code, 0, output);
  for (const id of ids) t.true(output.includes(id));
  t.regex(output, /^unmatched\/[\w-]{43}-0 .*belongs to no payment/m);
  t.regex(output, /The personal data of 2 payments and 1 unmatched result are erased\./);
  t.notRegex(output, /zulaikha|880202/i, 'not even while it is erased');

  await until(async () => {
    const rows = await query(url, `select 1 from details.generic_details where name is not null`);
    return rows.length === 0;
  });
  for (let pass = 0; pass < 2; pass += 1) {
    await query(administrator, 'vacuum (full, analyze)');
    await query(administrator, 'select pg_switch_wal()');
    await query(administrator, 'checkpoint');
  }
  t.deepEqual(await filesWithTraces(), []);
  for (const trace of traces) t.false(serve.output().toLowerCase().includes(trace), 'nor in the log');
});

/** What does not depend on who paid. */
async function books(at: string): Promise<string> {
  const { code, stdout } = await ledger('balances', '--at', at);
  return code === 0 ? stdout : Promise.reject(new Error(stdout));
}

test.serial('pages say so in both languages, the PDF too, and the ledger verifies', async (t) => {
  const id = await payPerson('ERASE-3');
  const kept = await payPerson('ERASE-4');
  const at = new Date().toISOString();
  const before = await books(at);
  t.regex(before, /merchant:demo-app .*[1-9]/);
  const file = join(folder, 'before.jsonl');
  const anHour = (sign: number) => new Date(Date.now() + sign * 3_600_000).toISOString();
  const range = ['--from', anHour(-1), '--to', anHour(1)];
  const exported = await ledger('export', ...range, '--output', file);
  t.is(exported.code, 0, exported.output);
  const opened = await ledger('export', ...range, '--with-personal-data');
  t.regex(opened.stdout, /Zulaikha/);
  const { DATABASE_URL: url = '' } = JSON.parse(await readFile(join(folder, 'endpoints.json'), 'utf8'));
  const access = `select user_id, detail from access_log.access_log where what = 'exportOpened'`;
  const recorded = await until(async () => (await query(url, access))[0]);
  t.regex(`${recorded.user_id} ${recorded.detail}`, /^staff:\S+ jsonl of all merchants, \S+ to \S+$/);
  const receipt = async (lang: string, of = id) =>
    (await fetch(`${baseUrl}/generic/receipt/${of}?lang=${lang}`)).text();
  t.regex(await receipt('en'), /Zulaikha/);
  const { code, output } = await ledger('erase', id, '--yes');
  t.is(code, 0, output);
  // Another process has erased them: this one hears of it with the row.
  const says = /Personal data erased on \d+ \w+ \d{4}/;
  t.regex(await until(async () => says.exec(await receipt('en'))?.[0]), says);
  t.regex(await receipt('ms'), /Data peribadi telah dipadamkan pada \d+ \w+ \d{4}/);
  // Not what a port of the page may end with.
  t.notRegex(await receipt('en'), /Zulaikha|(?<!\d)4321/);
  t.regex(await receipt('en'), /RM\s120\.50/);
  t.regex(await receipt('en', kept), /Zulaikha/);
  const download = await fetch(`${baseUrl}/generic/download/${id}`);
  t.is(download.status, 200);
  const pdf = Buffer.from(await download.arrayBuffer());
  if (hasPoppler) t.regex(textOf(pdf), /Payer +Personal data erased on \d+ \w+ \d{4}/);
  const history = await ledger('history', id);
  t.regex(history.stdout, /PersonalDataErased +succeeded +staff:/);
  t.is(history.code, 0);
  t.is(await books(at), before);
  const content = await readFile(file, 'utf8');
  t.true(content.includes(id));
  // Four digits alone may be in a hash by chance.
  for (const trace of traces) t.false(content.toLowerCase().includes(trace), 'an export holds ciphertext');
  for (const what of [['--file', file], []]) {
    const verified = await ledger('verify', ...what);
    t.is(verified.code, 0, verified.output);
  }
  const again = await ledger('erase', id, '--yes');
  t.regex(again.output, /hold no personal data any more/);
});

test.serial('a payment of an earlier release can be erased, and the command says what stays', async (t) => {
  const email = `${oldId}-email.eml`;
  await until(async () => (await outbox()).includes(email));
  const held = async () => {
    const { stdout } = await ledger('subject-access', '--payer', '900101145678');
    return JSON.parse(stdout).payments.map(({ transactionId }: { transactionId: string }) => transactionId);
  };
  t.deepEqual(await held(), [oldId]);
  const { code, output } = await ledger('erase', oldId, '--yes');
  t.is(code, 0, output);
  t.regex(output, /1 of them were recorded by an earlier release:.* still holds them in plain text/);
  t.false((await outbox()).includes(email));
  const history = await ledger('history', oldId);
  t.regex(history.stdout, /PersonalDataErased +succeeded +staff:/);
  t.deepEqual(await held(), []);
  const verified = await ledger('verify');
  t.is(verified.code, 0, verified.output);
});

test.serial('without a confirmation nothing is erased; ids are checked first', async (t) => {
  const id = await payPerson('ERASE-5');
  const asked = await ledger('erase', id);
  t.is(asked.code, 1);
  t.regex(asked.output, /Nothing was erased/);
  t.regex(await (await fetch(`${baseUrl}/generic/receipt/${id}`)).text(), /Zulaikha/);
  t.is((await ledger('erase', 'nonsense')).code, 2);
  t.is((await ledger('erase')).code, 2);
  // A mistyped id must not be left out without a word.
  const none = '0'.repeat(26);
  const mistyped = await ledger('erase', id, none, '--yes');
  t.like(mistyped, { code: 1, output: `Nothing was erased: there is no ${none}.\n` });
  t.regex(await (await fetch(`${baseUrl}/generic/receipt/${id}`)).text(), /Zulaikha/);
  t.is((await ledger('keys', 'rewrap')).code, 0);
  const destroyed = await ledger('keys', 'destroy-erased');
  t.regex(destroyed.output, /^7 keys/);
});

test.serial('an erasure that fails after it has begun is not reported as nothing', async (t) => {
  const id = await payPerson('ERASE-6');
  const { DATABASE_URL: url = '' } = JSON.parse(await readFile(join(folder, 'endpoints.json'), 'utf8'));
  await query(
    url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
     create trigger refuse before delete on personal_data.erasures execute function refuse()`,
  );
  // With a mail server no email can be on its way into the outbox, so an erasure is completed at once.
  const withMail = { ...environment, SMTP_URL: 'smtp://127.0.0.1:2525' };
  const { code, output } = await runLedger(['erase', id, '--yes'], withMail);
  await query(url, 'drop trigger refuse on personal_data.erasures');
  t.is(code, 1);
  t.regex(output, /completes by itself/);
  t.notRegex(output, /Nothing was erased/);
  t.notRegex(await (await fetch(`${baseUrl}/generic/receipt/${id}`)).text(), /Zulaikha/);
});

test.serial('after a change of DATA_KEY the earlier one is needed until every block is moved', async (t) => {
  const id = await payPerson('ROTATED');
  const { DATA_KEY: earlier = '' } = JSON.parse(await readFile(join(folder, 'keys.json'), 'utf8'));
  const changed = { ...environment, DATA_KEY: Buffer.alloc(32, 'n').toString('base64') };
  const held = async (variables: Readonly<Record<string, string>>) =>
    (await runLedger(['subject-access', '--payer', person.ic_no], variables)).stdout;
  t.false((await held(changed)).includes(id));
  const during = { ...changed, DATA_KEY_PREVIOUS: earlier };
  t.true((await held(during)).includes(id));
  const { code, output } = await runLedger(['keys', 'rewrap'], during);
  t.is(code, 0, output);
  const found = await held(changed);
  t.true(found.includes(id));
  t.regex(found, /Zulaikha/);
  t.false((await ledger('subject-access', '--payer', person.ic_no)).stdout.includes(id), 'the earlier one');
});
