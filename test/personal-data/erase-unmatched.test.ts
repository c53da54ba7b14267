// Erasing results in quarantine.
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import test, { type ExecutionContext } from 'ava';
import { createExecute } from '../../src/commands/execute.ts';
import { createQuarantine, loadUnmatched, unmatchedDecider } from '../../src/commands/unmatched.ts';
import { quarantineFold, resolutionStream, unmatchedIdOf } from '../../src/events/unmatched.ts';
import { unmatchedSubject } from '../../src/personal-data/erase.ts';
import { findByPayer } from '../../src/personal-data/find-by-payer.ts';
import { createRetentionPass } from '../../src/personal-data/retention.ts';
import { until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { payer } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { quarantined } from '../support/quarantine.ts';
import { cause, startErasing } from './erasing.ts';

const postgres = await createDatabase();
const start = (t: ExecutionContext) => startErasing(t, postgres);

test.serial('a result in quarantine is erased by its id, with its payer, and by retention', async (t) => {
  const ledger = await start(t);
  ledger.project(t);
  const { db, eventStore, personalData } = ledger;
  const id = await ledger.pay(1);
  const quarantine = createQuarantine({
    eventStore,
    seal: personalData.seal,
    fingerprint: createFingerprint('a key of the test'),
  });
  const received = [
    { TRANS_ID: 'UNKNOWN-1', BUYER_NAME: 'SOMEBODY ELSE' },
    { TRANS_ID: id, BUYER_NAME: 'SOMEBODY' },
    { TRANS_ID: 'UNKNOWN-2', BUYER_EMAIL: payer.email.toUpperCase() },
    { TRANS_ID: 'UNKNOWN-3', BUYER_ID: '900101 14 5678' },
  ];
  for (const raw of received)
    await quarantine(
      {
        at: '2026-11-20T02:00:00.000Z',
        channel: 'generic',
        verified: true,
        reason: 'unknown_transaction',
        raw,
      },
      cause(),
    );
  const [other, named, withEmail, withNumber] = (await quarantined(eventStore)).map(unmatchedIdOf);
  const ids = async () =>
    (await findByPayer('900101-14-5678', ledger)).unmatched.map((found) => found.id).toSorted();
  t.deepEqual(await ids(), [named, withNumber].toSorted());
  const byEmail = (await findByPayer(payer.email, ledger)).unmatched.map((found) => found.id);
  t.deepEqual(byEmail.toSorted(), [named, withEmail].toSorted());
  t.deepEqual((await findByPayer('Somebody', ledger)).unmatched, [], 'a name is not a person');

  const subject = unmatchedSubject(withNumber ?? '');
  t.deepEqual(await ledger.erase(ledger.asked(subject)), [subject]);
  t.deepEqual(await ledger.erase(ledger.asked(subject)), [], 'once');
  const load = async (unmatchedId = '') => {
    const loaded = await loadUnmatched(unmatchedId, eventStore);
    if (!loaded) throw new Error('There is no such result');
    const [stored] = await eventStore.load(loaded.stream, loaded.revision, 1);
    // As the event has it: also a reader who does not know of the erasure reads nothing.
    const { evidence } = quarantineFold.read(stored ?? { type: '', data: null, metadata: null }).data;
    const opened = await personalData.open(evidence, { stream: loaded.stream, field: 'evidence' });
    return { erasedAt: loaded.head.state.erasedAt, kind: opened.kind };
  };
  const resolve = async (unmatchedId = '') => {
    const resolution = { resolution: 'refunded', note: 'As the gateway says', revision: 0 } as const;
    const command = {
      type: 'ResolveUnmatchedResult',
      at: '2026-11-20T03:00:00.000Z',
      ...resolution,
    } as const;
    const execute = createExecute({ eventStore, decider: unmatchedDecider });
    await execute(resolutionStream(unmatchedId), command, cause());
  };
  const erased = { erasedAt: '2026-11-20T02:00:00.000Z', kind: 'erased' };
  await until(async () => (await load(withNumber)).kind === 'erased');
  t.deepEqual(await load(withNumber), erased);
  t.deepEqual(await load(named), { erasedAt: null, kind: 'open' });
  await until(async () => (await db('unmatched.unmatched').whereNotNull('erased_at')).length === 1);
  t.deepEqual(await ids(), [named]);

  const pass = createRetentionPass({ ...ledger, retention: { count: 7, unit: 'years' }, log });
  await pass(new AbortController().signal);
  t.is((await load(other)).kind, 'open');
  ledger.setNow(new Date(Date.now() + 8 * 365 * 86_400_000).toISOString());
  for (const each of [other, named]) await resolve(each);
  await until(async () => (await db('unmatched.unmatched').whereNotNull('resolved_at')).length === 2);
  const seen: string[] = [];
  const erase: typeof ledger.erase = async (asked, options) => {
    seen.push(...asked.map((each) => each.subject));
    t.truthy(options?.unlessSince, 'a row may be behind');
    return await ledger.erase(asked, options);
  };
  const later = createRetentionPass({ ...ledger, erase, retention: { count: 7, unit: 'years' }, log });
  await later(new AbortController().signal);
  await until(async () => (await db('unmatched.unmatched').whereNotNull('erased_at')).length === 3);
  for (const each of [other, named]) t.is((await load(each)).kind, 'erased');
  const open = unmatchedSubject(withEmail ?? '');
  t.false(seen.includes(open), 'it is not loaded again every minute');
  // A row may be of another log.
  t.deepEqual(await ledger.erase(ledger.asked(open), { unlessSince: ledger.runtime.now() }), []);
  t.is((await load(withEmail)).kind, 'open', 'staff have not resolved it');
});
