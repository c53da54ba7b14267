// `ledger verify` and what belongs to it as commands: exit codes, what they print, and the daily run.
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { isSigned, sealKeyOf } from '@ledger/transparency-log/key.ts';
import { checkpointText, rawKeyOf, signatureLine, verifierText } from '@ledger/transparency-log/note.ts';
import test, { type ExecutionContext } from 'ava';
import { lastCheck } from '../../../src/audit/background-check/schedule.ts';
import { createLines } from '../../../src/audit/export/lines.ts';
import { proveReceipt } from '../../../src/audit/export/receipt-proof.ts';
import { proveEvents } from '../../../src/audit/seals/leaves.ts';
import { assertKey } from '../../../src/commands/key-fingerprint.ts';
import { chain, hashIn } from '../../../src/events/envelope.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { signedText } from '../../../src/events/seals.ts';
import { verifyInProcess } from '../../../src/roles/children.ts';
import { query, temporaryFolder, until } from '../../embedded/helpers.ts';
import { append, log, paymentRequested } from '../../projections/helpers.ts';
import { runLedger, settingsFor, spawnLedger } from '../../support/ledger.ts';
import { freshSealing } from '../fresh-sealing.ts';
import { cause, filled, key, otherKey, paymentId, pemOf, sealAll, tampered } from '../ledger.ts';
import { makeLedger } from './made-ledger.ts';

const { file, template } = await makeLedger();

test.serial('exit code 0 or 1, by the key that an auditor keeps', async (t) => {
  const { eventStore, port } = await tampered(t, file, () => {});
  const url = `esdb://127.0.0.1:${port}?tls=false`;
  const folderOfKeys = await temporaryFolder(t);
  const [kept, wrong] = [join(folderOfKeys, 'kept.pem'), join(folderOfKeys, 'wrong.pem')];
  await writeFile(kept, pemOf(key));
  await writeFile(wrong, pemOf(otherKey));
  const whole = await ledger(t, url, 'verify', '--public-key', kept);
  t.regex(whole.said, /9 {2}seals, each with its signature/);
  t.is(whole.code, 0, whole.said);
  const forged = await ledger(t, url, 'verify', '--public-key', wrong);
  t.is(forged.code, 1);
  t.regex(
    forged.said,
    /^VIOLATION keys of seals \(9\): Seal 0 was signed with a key that is not trusted\.$/m,
  );
  t.is((await ledger(t, url, 'verify', '--public-key', join(folderOfKeys, 'none'))).code, 2);
  const nonsense = join(folderOfKeys, 'export.jsonl');
  await writeFile(nonsense, 'no export\n');
  const exported = await ledger(t, url, 'verify', '--file', nonsense);
  t.is(exported.code, 1);
  t.true(exported.said.startsWith('VIOLATION line 1: '), exported.said);
  t.is((await ledger(t, url, 'verify', '--file', nonsense, '--public-key', kept)).code, 1);
  const proof = await proveReceipt(eventStore, paymentId(4), new AbortController().signal);
  const [ofReceipt, forgedProof] = [join(folderOfKeys, 'proof.jsonl'), join(folderOfKeys, 'forged.jsonl')];
  await writeFile(ofReceipt, proof?.file ?? '');
  const proven = await ledger(t, url, 'verify', '--file', ofReceipt, '--public-key', kept);
  t.is(proven.code, 0, proven.said);
  t.regex(
    proven.said,
    new RegExp(`^Event ${proof?.number} of the log is the one that this file is about\\.$`, 'm'),
  );
  t.notRegex(proven.said, /0 events/);
  t.regex(proven.said, /Whether the log has other payments, or later events, this file does not show/);
  // The events of several payments, each proven, say nothing about what is between them: no leaf more helps.
  const lines = createLines();
  const at = '2026-11-20T00:00:00.000Z';
  const cut = [
    lines.head({ version: 2, from: at, to: '2026-11-21T00:00:00.000Z', merchant: null, exportedAt: at }),
  ];
  for (const number of [1, 2]) {
    const events = await eventStore.load(paymentStream(paymentId(number)));
    cut.push(
      lines.payment(events, { proofs: await proveEvents(eventStore, events, new AbortController().signal) }),
    );
  }
  const { leaf, proof: ofLeaf } = JSON.parse(proof?.file.split('\n')[1] ?? '');
  cut.push(lines.leaf(leaf, ofLeaf), lines.end());
  await writeFile(forgedProof, cut.join(''));
  const cutSaid = await ledger(t, url, 'verify', '--file', forgedProof, '--public-key', kept);
  t.is(cutSaid.code, 1, cutSaid.said);
  const witnesses = join(folderOfKeys, 'witnesses');
  const witness = {
    kind: 'witness',
    name: 'witness.example/1',
    publicKey: rawKeyOf(otherKey.publicKey),
  } as const;
  await writeFile(witnesses, verifierText(witness));
  const unwitnessed = await ledger(t, url, 'verify', '--file', ofReceipt, '--witness-keys', witnesses);
  t.regex(unwitnessed.said, /^VIOLATION line 2: Of 1 witnesses 1 must have signed .*: none\.$/m);
  t.is(unwitnessed.code, 1);
  const twice = join(folderOfKeys, 'twice');
  await writeFile(twice, `${verifierText(witness)}\r\n\n${verifierText(witness)}\n`);
  const asTwo = ['--file', ofReceipt, '--witness-keys', twice, '--witnesses', '2'];
  const counted = await ledger(t, url, 'verify', ...asTwo);
  t.regex(counted.said, /^--witnesses must be from 1 to 1$/m, 'a witness that is listed twice is one');
  t.is(counted.code, 2);
  // Where nothing is proven, there is no checkpoint that a witness could have left unsigned.
  const bare = createLines();
  const events = await eventStore.load(paymentStream(paymentId(1)));
  const range = { from: at, to: '2026-11-21T00:00:00.000Z', merchant: null, exportedAt: at };
  await writeFile(
    forgedProof,
    [bare.head({ version: 1, ...range }), bare.payment(events), bare.end()].join(''),
  );
  t.is((await ledger(t, url, 'verify', '--file', forgedProof)).code, 0);
  const unproven = await ledger(t, url, 'verify', '--file', forgedProof, '--witness-keys', witnesses);
  t.regex(unproven.said, /^VIOLATION \d events, the first of them .* are not proven to be from the log/m);
  t.is(unproven.code, 1);
  t.is((await ledger(t, url, 'verify', '--file', ofReceipt, '--public-key', wrong)).code, 1);
  await writeFile(forgedProof, (proof?.file ?? '').replace('"index":', '"index":1'));
  t.is((await ledger(t, url, 'verify', '--file', forgedProof)).code, 1);
  const replaced = await ledger(t, url, 'keys', 'replace-seal-key');
  t.regex(replaced.said, /^The log names the present SEAL_KEY already.* Nothing was replaced\.$/m);
  t.deepEqual(await eventStore.load('key-fingerprint-SEAL_KEY'), []);
  const listed = await ledger(t, url, 'seals');
  t.is(listed.code, 0);
  t.true(listed.said.startsWith(pemOf(key)));
  t.regex(listed.said, /^ +8 {2}2026-11-20T10:00:00\+08:00 +45 events {2}[0-9a-f]{64}\n9 seals\.$/m);
  // What a program of an auditor needs to check the seals by itself: everything that was signed, and the signature.
  const { seals } = JSON.parse((await ledger(t, url, 'seals', '--json')).said);
  for (const { count, hash, ...sealed } of seals) {
    t.true(isSigned(sealed, signedText(sealed)), `the seal of ${count} events`);
    t.is(Buffer.from(sealed.checkpoint.split('\n')[2], 'base64').toString('hex'), hash);
  }
  const checkpoint = join(folderOfKeys, 'checkpoint');
  await writeFile(checkpoint, (await ledger(t, url, 'seals', '--last')).said);
  await append(eventStore, paymentId(92), [paymentRequested({ at: '2026-10-20T01:00:00.000Z' })]);
  for (const since of [[], ['--since', checkpoint]]) {
    const { code, said } = await ledger(t, url, 'verify', '--public-key', kept, ...since);
    t.regex(said, /^1 events say that they were recorded more than an hour before .* revision 0:/m);
    t.is(code, 0, said);
  }
});

test.serial('after a lost key, `ledger seals` has every key for the file of an auditor', async (t) => {
  const { eventStore, port } = await tampered(t, file, () => {});
  const url = `esdb://127.0.0.1:${port}?tls=false`;
  const lost = { name: 'SEAL_KEY', key: otherKey.publicKey, others: null };
  await assertKey(lost, { eventStore, runtime: systemRuntime, signal: new AbortController().signal });
  const sealing = await freshSealing(t);
  const kept = join(await temporaryFolder(t), 'kept.txt');
  const thirdKey = sealKeyOf('781d'.repeat(16));
  const listedAs = async (seed: string, before: string) => {
    const { said } = await ledger(t, url, 'seals', { SEAL_KEY: seed.repeat(16) });
    t.true(said.startsWith(before), said);
    await writeFile(kept, said);
    const verified = await ledger(t, url, 'verify', '--public-key', kept);
    t.is(verified.code, 0, verified.said);
  };
  const ofLost = `For checkpoints of 0 to ${filled} events\n${pemOf(key)}`;
  await append(eventStore, paymentId(93), [paymentRequested()]);
  // The key's own fingerprint is an event, too.
  await sealAll(eventStore, sealing, filled + 2, otherKey);
  await listedAs('07e4', ofLost);
  // The next one is handed over to, as usual.
  await append(eventStore, paymentId(94), [paymentRequested()]);
  await sealAll(eventStore, sealing, filled + 3, thirdKey, otherKey);
  const ofSecond = `For checkpoints of ${filled + 1} to ${filled + 2} events\n${pemOf(otherKey)}`;
  await listedAs('781d', `${ofLost}${ofSecond}`);
});

test.serial('the daily verification: in a process of its own, which records what it found', async (t) => {
  const { port } = await tampered(t, file, () => {});
  const db = connectPostgres({ url: template.href, log });
  const before = { ...process.env };
  t.teardown(async () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    await db.destroy();
  });
  const esdbUrl = `esdb://127.0.0.1:${port}?tls=false`;
  const dataDir = await temporaryFolder(t);
  const own = { DATA_DIR: dataDir, SEAL_KEY: '07e4'.repeat(16) };
  Object.assign(process.env, settingsFor({ esdbUrl, databaseUrl: template.href }), own);
  await db.raw('drop table if exists last_verify');
  // On a busy machine, a process may not reach a store in time.
  const stranger = await until(async () => {
    await verifyInProcess(new AbortController().signal);
    return await lastCheck(db, 'verify');
  });
  t.like(stranger?.violations[0], { kind: 'keys of seals', count: 9 });

  // A key that is about to follow the one that has sealed.
  process.env.SEAL_KEY_PREVIOUS = '5ea1'.repeat(16);
  await until(async () => {
    await verifyInProcess(new AbortController().signal);
    return (await lastCheck(db, 'verify'))?.at !== stranger?.at;
  });
  const found = await lastCheck(db, 'verify');
  t.false(found?.violations.some(({ kind }) => kind === 'keys of seals'));
  t.is(found?.checked[0]?.count, filled);
  t.deepEqual(await readdir(dataDir), [], 'nothing to go on from');

  // While another runs, and when it is asked to stop.
  const lock = {
    databaseUrl: template.href,
    name: 'verify',
    signal: AbortSignal.timeout(60_000),
    runtime: systemRuntime,
  };
  await leadNow(lock, async () => {
    const refused = await ledger(t, esdbUrl, 'verify');
    t.deepEqual(refused, { code: 1, said: 'Another `ledger verify` is running.\n' });
  });
  await verifyInProcess(AbortSignal.abort());
  t.is((await lastCheck(db, 'verify'))?.at, found?.at);
});

test.serial('one that is interrupted says so, and that the next one goes on', async (t) => {
  const { port } = await tampered(t, file, () => {});
  const db = connectPostgres({ url: template.href, log });
  t.teardown(() => db.destroy());
  const holder = await db.transaction();
  await holder.raw('lock table payments.payments');
  const child = spawnLedger(['verify'], {
    ...settingsFor({ esdbUrl: `esdb://127.0.0.1:${port}?tls=false`, databaseUrl: template.href }),
    DATA_DIR: await temporaryFolder(t),
    SEAL_KEY: '5ea1'.repeat(16),
  });
  const said = text(child.stderr);
  // Other tests have databases, and wait for locks, on the same server.
  const isWaiting = async () =>
    (
      await db.raw(
        `select from pg_locks join pg_database on pg_database.oid = database
         where not granted and relation is not null and datname = current_database()`,
      )
    ).rowCount > 0;
  let hasEnded = false;
  const closed = once(child, 'close').finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && !(await isWaiting())) await systemRuntime.sleep(20);
  child.kill('SIGTERM');
  await holder.rollback();
  const [code] = await closed;
  t.is((await said).replace(/^[^\n]*\r/gm, ''), 'Interrupted. The next run continues from here.\n');
  t.is(code, 130);
});

test.serial(
  'an older log is accepted, with a reason, where it lacks what is kept; also before the sealer looks again',
  async (t) => {
    const { port } = await tampered(t, file, () => {});
    const url = `esdb://127.0.0.1:${port}?tls=false`;
    const accept = (...reason: string[]) => ledger(t, url, 'verify', '--accept-older-log', ...reason);
    t.is((await accept()).code, 2);
    const why = ['--reason', 'The disk failed'];
    t.deepEqual(await accept(...why), {
      code: 1,
      said: 'The log has all that is kept: run `ledger verify`.\n',
    });
    const head = checkpointText({ origin: 'ledger.example/log', size: 50, root: Buffer.alloc(32) });
    const lost = `${head}\n${signatureLine(head, 'ledger.example/log', key)}`;
    // The second is that of another machine: its own file is not forgotten by the first.
    for (const refused of [`'No'`, 'null']) {
      await query(template.href, `update log_checkpoint set checkpoint = '${lost}', refused = ${refused}`);
      t.deepEqual(await accept(...why), {
        code: 0,
        said: 'Accepted: the log does not have the checkpoint kept in PostgreSQL, of 50 events.\n',
      });
    }
    const verified = await ledger(t, url, 'verify');
    t.is(verified.code, 0, verified.said);
    t.regex(
      verified.said,
      /^EXPLAINED An older copy .* up to 50 events\. Accepted by staff:\S+ on .*: The disk failed\.$/m,
    );
  },
);

test.serial('a fault is acknowledged, and parked streams are tried again', async (t) => {
  const { eventStore, port } = await tampered(t, file, () => {});
  const url = `esdb://127.0.0.1:${port}?tls=false`;
  const stream = paymentStream(paymentId(4));
  const [last] = (await eventStore.load(stream)).slice(-1);
  const unknown = chain([{ type: 'PaymentForgotten', data: {} }], hashIn(last), cause());
  await eventStore.append(stream, unknown, 3);
  const acknowledged = await ledger(t, url, 'verify', '--acknowledge', `${stream}@4`, '--reason', 'A trial');
  t.is(acknowledged.code, 0, acknowledged.said);
  t.regex(acknowledged.said, /^Acknowledged: .* cannot be read: Unknown event type PaymentForgotten\.$/m);
  t.is((await ledger(t, url, 'verify', '--acknowledge', stream, '--reason', 'A trial')).code, 2);
  const verified = await ledger(t, url, 'verify');
  t.is(verified.code, 0, verified.said);
  t.regex(verified.said, /^EXPLAINED .* Explained by staff:\S+ on .*: A trial\.$/m);

  const parked = [{ stream: 'user-X', revision: 3, type: 'T', message: 'No', parkedAt: '2026-11-20' }];
  await query(
    template.href,
    `update checkpoints set parked = '${JSON.stringify(parked)}' where name = 'users'`,
  );
  const still = await ledger(t, url, 'rebuild', '--parked');
  t.is(still.code, 1);
  t.is(still.said, 'users: user-X revision 3 (T): No\nParked: 1.\n');
  await query(template.href, `update checkpoints set parked = '[]'`);
  t.deepEqual(await ledger(t, url, 'rebuild', '--parked'), { code: 0, said: 'Nothing is parked.\n' });
});

async function ledger(t: ExecutionContext, esdbUrl: string, ...given: (string | { SEAL_KEY: string })[]) {
  const args = given.filter((each) => typeof each === 'string');
  const { code, stdout, stderr } = await runLedger(args, {
    ...settingsFor({ esdbUrl, databaseUrl: template.href }),
    DATA_DIR: await temporaryFolder(t),
    SEAL_KEY: '5ea1'.repeat(16),
    ...given.find((each) => typeof each !== 'string'),
  });
  return { code, said: stdout || stderr };
}
