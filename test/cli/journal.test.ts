// `ledger balances`, `ledger statement` and `ledger account`, as staff type them.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'csv-parse/sync';
import { balancesText } from '../../src/cli/balances.ts';
import { type PaymentEvent, paymentStream } from '../../src/events/payment.ts';
import { stored } from '../audit/helpers.ts';
import { openStore } from '../audit/ledger.ts';
import { temporaryFolder } from '../embedded/helpers.ts';

import { emptyJournal, feed, paid, recorded } from '../projections/journals.ts';
import { hasPoppler, textOf } from '../receipts/pdf-reader.ts';
import { clockAt, runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';

const postgres = await createDatabase();
const store = await openStore(':memory:');
test.after.always(() => store.close());

/** Two payments of 20 November, one of them known three days later, and one of the day after. */
async function startShell(t: ExecutionContext) {
  const db = await emptyJournal(t, postgres);
  const value = { paidAt: '2025-11-20T03:00:00.000Z' };
  await feed(db, recorded('A', paid({ no: 1, at: '2025-11-20T03:00:01.000Z', ...value, chargeSen: 50 })));
  await feed(db, recorded('B', paid({ no: 2, at: '2025-11-23T01:00:00.000Z', ...value })));
  await feed(db, recorded('C', paid({ no: 3, at: '2025-11-21T01:00:00.000Z' })));
  const folder = await temporaryFolder(t);
  const environment = {
    ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${store.port}?tls=false`, databaseUrl: postgres.url }),
    DATA_DIR: folder,
  };
  const ledger = (...args: string[]) => runLedger(args, environment);
  return { db, environment, ledger, folder };
}

/** Into the log, which no projection follows here. */
async function append(transactionId: string, events: readonly PaymentEvent[]): Promise<void> {
  await store.eventStore.append(paymentStream(transactionId), stored(events, transactionId), 'no_stream');
}

const rowsOf = (csv: string): Record<string, string>[] => parse(csv, { columns: true, bom: true });

test.serial('the trial balance, now and as of a time or the end of a day', async (t) => {
  const { ledger } = await startShell(t);
  const { code, stdout } = await ledger('balances');
  t.is(code, 0);
  t.is(
    stdout.split('\n').slice(0, 6).join('\n'),
    `Account           Debit (RM)  Credit (RM)  Balance (RM)
charges:fpx             0.00         0.50       0.50 Cr
gateway:fpx            30.56         0.00      30.56 Dr
merchant:council        0.00        30.06      30.06 Cr
Total                  30.56        30.56       0.00
`,
  );
  const { asOf, ...rest } = JSON.parse((await ledger('balances', '--json')).stdout);
  t.true(Date.parse(asOf) > 0);
  t.is(rest.isBalanced, true);
  t.deepEqual(rest.accounts[0], { account: 'charges:fpx', debitSen: 0, creditSen: 50 });
  t.regex(stdout, /\nDebits equal credits, as of \d{4}-\d\d-\d\dT/);
  t.regex(
    (await ledger('balances', '--at', '2025-11-21T09:00:00+08:00')).stdout,
    /merchant:council +0\.00 +20\.04/,
  );
  t.regex(
    (await ledger('balances', '--at', '2025-11-21T08:59:59+08:00')).stdout,
    /merchant:council +0\.00 +10\.01/,
  );
  t.regex((await ledger('balances', '--at', '2025-11-22')).stdout, /as of 2025-11-22T23:59:59\+08:00/);
  t.is((await ledger('balances', '--at', 'yesterday')).code, 2);
});

test.serial('a trial balance that does not balance says so, with exit code 1', async (t) => {
  const { db, ledger } = await startShell(t);
  await db.raw(
    `update journal.daily_sums set debit_sen = debit_sen + 7 where account = 'gateway:fpx' and day = '2025-11-20'`,
  );
  const { code, stdout } = await ledger('balances');
  t.is(code, 1);
  t.regex(stdout, /\nDEBITS AND CREDITS DIFFER by RM 0\.07, /);
});

test.serial('now is the time of PostgreSQL, however wrong the clock of the machine is', async (t) => {
  const { environment, ledger } = await startShell(t);
  const nodeOptions = clockAt('2025-11-22T00:00:00Z');
  const { code, stderr, stdout } = await runLedger(['balances'], environment, { nodeOptions });
  t.is(code, 0, stderr);
  t.regex(stdout, /merchant:council +0\.00 +30\.06/, 'with what was recorded on 23 November');
  t.regex(stderr, /the clock of this machine is wrong; the time of PostgreSQL is used/);
  const day = ['statement', '--merchant', 'council', '--day', '2025-11-20'];
  const there = await runLedger(day, environment, { nodeOptions });
  t.is(there.code, 0);
  t.deepEqual(rowsOf(there.stdout), rowsOf((await ledger(...day)).stdout));
  const askedMs = Date.now();
  const status = await runLedger(['status', '--json'], environment, { nodeOptions });
  t.true(Date.parse(JSON.parse(status.stdout).at) >= askedMs, status.stdout);
});

test('a trial balance without accounts, and one past the safe integers', (t) => {
  t.true(balancesText([], new Date()).isBalanced);
  const sen = 2n ** 70n;
  const accounts = [
    { account: 'gateway:fpx', debitSen: sen, creditSen: 0n },
    { account: 'merchant:a', debitSen: 0n, creditSen: sen + 1n },
  ];
  const { text, isBalanced } = balancesText(accounts, new Date());
  t.false(isBalanced);
  t.true(text.includes('11,805,916,207,174,113,034.24'));
  t.true(text.includes('DIFFER by RM 0.01'));
});

test.serial('a day’s statement as CSV, as of a time, and as PDF in a file of its own', async (t) => {
  const { ledger, folder } = await startShell(t);
  const day = ['statement', '--merchant', 'council', '--day', '2025-11-20'];
  const now = await ledger(...day);
  t.deepEqual(
    rowsOf(now.stdout).map(({ receipt_no, total, recorded_late }) => [receipt_no, total, recorded_late]),
    [
      ['R-1', '10.51', 'no'],
      ['R-2', '10.02', 'yes'],
    ],
  );
  const known = await ledger(...day, '--known-at', '2025-11-20');
  t.deepEqual(
    rowsOf(known.stdout).map(({ receipt_no }) => receipt_no),
    ['R-1'],
  );

  const lines = (await ledger(...day, '--json')).stdout.trim().split('\n');
  t.deepEqual(
    lines.map((line) => JSON.parse(line)),
    rowsOf(now.stdout),
    'the same as JSON lines',
  );
  t.is((await ledger(...day, '--json', '--format', 'pdf', '--output', 'x.pdf')).code, 2);
  const byId = await ledger('statement', '--merchant', '1', '--day', '2025-11-20');
  t.is(byId.code, 0, 'an agency by its id');

  const output = join(folder, 'statement.pdf');
  const pdf = await ledger(...day, '--format', 'pdf', '--lang', 'en', '--output', output);
  t.is(pdf.code, 0, pdf.stderr);
  if (hasPoppler) t.regex(textOf(await readFile(output)), /DAILY COLLECTION STATEMENT.*RM 20\.03/);
  t.is((await stat(output)).mode & 0o077, 0, 'for this account alone');
  await writeFile(output, 'mine');
  t.is((await ledger(...day, '--output', output)).code, 2);
  t.is(await readFile(output, 'utf8'), 'mine', 'a file that is there is not written over');
});

test.serial('an account’s statement has an opening balance, its lines and a closing balance', async (t) => {
  const { ledger } = await startShell(t);
  const asked = ['account', 'merchant:council', '--from', '2025-11-21', '--to', '2025-11-23'];
  const { stdout } = await ledger(...asked);
  const [opening, ...lines] = (await ledger(...asked, '--json')).stdout.trim().split('\n');
  t.deepEqual(JSON.parse(opening ?? ''), {
    account: 'merchant:council',
    kind: 'opening',
    balance: '10.01',
    balance_side: 'credit',
  });
  t.deepEqual(
    lines.map((line) => JSON.parse(line).receipt_no),
    ['R-3', 'R-2', undefined],
  );
  t.deepEqual(
    rowsOf(stdout).map(({ kind, receipt_no, credit, balance, balance_side }) =>
      [kind, receipt_no, credit, balance, balance_side].join(' '),
    ),
    [
      'opening   10.01 credit',
      'payment R-3 10.03 20.04 credit',
      'payment R-2 10.02 30.06 credit',
      'closing   30.06 credit',
    ],
  );
  const gateway = await ledger('account', 'gateway:fpx', '--from', '2025-11-20', '--to', '2025-11-20');
  t.deepEqual(
    rowsOf(gateway.stdout).map(({ balance, balance_side }) => `${balance} ${balance_side}`),
    ['0.00 ', '10.51 debit', '10.51 debit'],
  );
});

test.serial('wrong arguments are answered with the usage', async (t) => {
  const { ledger } = await startShell(t);
  for (const [args, fault] of [
    [['statement', '--merchant', 'nobody', '--day', '2025-11-20'], 'No agency has the code nobody'],
    [
      ['statement', '--merchant', 'council', '--day', '2025-11-31'],
      '--day must be a date such as 2026-11-20',
    ],
    [['statement', '--day', '2025-11-20', '--format', 'pdf'], '--format pdf needs --output'],
    [
      ['account', 'merchant:x', '--from', '2025-11-20', '--to', '2025-11-20'],
      'Nothing was ever posted to merchant:x',
    ],
    [
      ['account', '--from', '2025-11-20', '--to', '2025-11-20'],
      'Name one account; `ledger balances` lists them',
    ],
  ] as const) {
    const { code, stderr } = await ledger(...args);
    t.is(code, 2, stderr);
    t.true(stderr.startsWith(`${fault}\nledger ${args[0]} `), stderr);
  }
});

test.serial('ageing; and a settlement that is imported when the journal has all before it', async (t) => {
  const { ledger, folder } = await startShell(t);
  const { code, stdout } = await ledger('balances', '--ageing', '--at', '2025-11-24');
  t.is(code, 0);
  t.regex(stdout, /^Open by age in days \(RM\) +0–1 +2–3 +4–7 +8–30 +over 30 +no day +Total\n/);
  t.regex(stdout, /\nmerchant:council +10\.02 +10\.03 +10\.01 +0\.00 +0\.00 +0\.00 +30\.06\n/);

  const file = join(folder, 'settlement.csv');
  const bring = async (...rows: string[]) => {
    await writeFile(file, rows.join('\n'));
    return await ledger('settle', file);
  };
  const faulty = await bring(
    'REFERENCE,SETTLED_ON,TOTAL,MERCHANT_CODE,AMOUNT',
    'RM-1,2025-11-24,30.06,=1+1,1',
  );
  t.is(faulty.code, 1);
  t.regex(faulty.stderr, /^line 2 MERCHANT_CODE names no account/);
  const early = await bring(
    'REFERENCE,SETTLED_ON,TOTAL,PAYMENT_MODE,AMOUNT',
    'PO-0,2025-01-01,1.00,fpx,1.00',
  );
  t.is(early.code, 1);
  t.regex(early.stderr, /^it is dated before .*: confirm that it is to be recorded, with --confirm\.\n$/);
  const payout = [
    'REFERENCE,SETTLED_ON,TOTAL,PAYMENT_MODE,AMOUNT,FEE',
    'PO-1,2025-11-24,30.06,fpx,30.56,0.50',
  ];
  t.is((await bring(...payout)).stdout, 'The payout PO-1 of RM 30.06, 1 row: recorded.\n');
  const again = await bring(...payout);
  t.is(again.code, 1);
  t.regex(again.stderr, /^The journal does not agree with the log yet/, 'nobody runs the projections here');
});

test.serial('a journal that is behind, has halted or was never made is reported', async (t) => {
  const { db, ledger } = await startShell(t);
  const fault = { message: 'Unknown event type X', event: { stream: 'payment-Z', revision: 3, type: 'X' } };
  const day = ['statement', '--merchant', 'council', '--day', '2025-11-20'];
  await append('Z', paid({ at: '2025-11-24T01:00:00.000Z' }));
  const behind = await ledger('balances');
  t.is(behind.code, 0);
  t.is(behind.stderr, 'The journal does not agree with the log yet, and may lack what was recorded last.\n');
  const refused = await ledger(...day);
  t.is(refused.code, 1);
  t.is(refused.stdout, '', 'a document is complete or not there');
  const before = await ledger(...day, '--known-at', '2025-11-20');
  t.is(before.code, 0, 'what is missing was written long after that');
  await db.raw(`update checkpoints set fault = ? where name = 'journal'`, [JSON.stringify(fault)]);
  const still = await ledger('balances');
  t.is(still.code, 0);
  t.is(still.stderr, 'The journal has halted, and lacks everything after that: Unknown event type X.\n');
  await db.raw('drop schema journal cascade');
  await db.raw('drop table checkpoints');
  const { code, stderr } = await ledger('balances');
  t.is(code, 1);
  t.is(stderr, 'The journal does not exist yet: the projections have not run.\n');
});
