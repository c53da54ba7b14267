// `ledger reconcile` as staff type it, on running stores.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { reconciliationStream } from '../../src/events/reconciliation.ts';
import { temporaryFolder } from '../embedded/helpers.ts';

import { gatewayCsv, idOf, type Ledger, startLedger } from '../reconciliation/helpers.ts';
import { runLedger, settingsFor } from '../support/ledger.ts';
import { result, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';

const postgres = await createDatabase();

const call = ({ database, store }: Ledger, ...args: string[]) =>
  runLedger(['reconcile', ...args], settingsFor({ esdbUrl: store.url, databaseUrl: database.url }));

test.serial('the exit code says whether everything matched; the output names nobody', async (t) => {
  const ledger = await startLedger(t, postgres);
  await ledger.pay(idOf(1), [succeeded(result(1, 'succeeded'))]);
  const folder = await temporaryFolder(t);
  const save = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const good = await save('good.csv', gatewayCsv([{ TRANS_ID: idOf(1), PAYMENT_TRANS_ID: 'P1' }]));
  t.like(await call(ledger, good), { code: 0, stderr: '' });

  const rows = [
    { TRANS_ID: idOf(1), PAYMENT_TRANS_ID: 'P1', AMOUNT: '99.00' },
    { TRANS_ID: '<b>Aminah</b>' },
  ];
  const bad = await save('bad.csv', gatewayCsv(rows));
  const timed = await call(ledger, bad, '--dry-run', '--made-at', '2026-11-20T18:30:00+08:00');
  t.regex(timed.stdout, /as of 2026-11-20 18:30:00/);
  t.is((await call(ledger, bad, '--made-at', 'yesterday')).code, 2);
  const dry = await call(ledger, bad, '--dry-run', '--from', '2026-11-20', '--to', '2026-11-20');
  t.is(dry.code, 1, dry.stderr);
  t.regex(dry.stdout, /unreadable {6}line 3 TRANS_ID is not an id/);
  t.regex(dry.stdout, /amount differs {2}line 2, .* here succeeded RM 120.50, there succeeded RM 99.00/);
  t.regex(dry.stdout, /0 new discrepancies/);
  t.regex(dry.stdout, /from 2026-11-20 00:00:00 to before 2026-11-21 00:00:00/);
  t.notRegex(dry.stdout, /Aminah|Ismail/i);
  const [, id = ''] = /\[(\w{26})\]/.exec(dry.stdout) ?? [];
  t.deepEqual(await ledger.store.eventStore.load(reconciliationStream(id)), []);

  const asJson = await call(ledger, bad, '--dry-run', '--json');
  t.like(JSON.parse(asJson.stdout), {
    dryRun: true,
    unreadable: [{ line: 3 }],
    discrepancies: [{ id, kind: 'amountDiffers', theirs: { amountSen: 9900 } }],
  });

  const kept = await call(ledger, bad);
  t.is(kept.code, 1);
  t.regex(kept.stdout, /1 new discrepancy, 0 earlier ones cleared/);
  const [event] = await ledger.store.eventStore.load(reconciliationStream(id));
  t.regex(Reflect.get(event?.metadata ?? {}, 'actor'), /^staff:./);

  for (const args of [[good, '--from', 'noon'], [await save('other.csv', 'name,amount\nAminah,1\n')]])
    t.is((await call(ledger, ...args)).code, 2, args.join(' '));
  const away = { ...ledger, database: { ...ledger.database, url: 'postgres://ledger:x@127.0.0.1:9/ledger' } };
  const down = await call(away, good);
  t.is(down.code, 75);
  t.regex(down.stderr, /ECONNREFUSED/);
  t.notRegex(down.stderr, /node_modules/);
});

test.serial('a full disk for temporary files is named, and is no fault of the program', async (t) => {
  const { database, store } = await startLedger(t, postgres);
  const file = join(await temporaryFolder(t), 'large.csv');
  await writeFile(file, gatewayCsv(Array.from({ length: 20_000 }, (_, n) => ({ TRANS_ID: idOf(n) }))));
  // No file may be longer than 64 blocks, as on a disk without more room.
  const limited = [
    '-c',
    'ulimit -f 64 && exec "$0" "$@"',
    process.execPath,
    'src/ledger.js',
    'reconcile',
    file,
  ];
  const settings = settingsFor({ esdbUrl: store.url, databaseUrl: database.url });
  const env = { PATH: process.env.PATH, ...settings };
  const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile('sh', limited, { env }, (error, _, stderr) => resolve({ code: error?.code, stderr }));
  });
  t.is(ended.code, 2);
  t.regex(ended.stderr, /^The disk for temporary files .* is full: free space there/m);
  t.notRegex(ended.stderr, / {4}at /);
});
