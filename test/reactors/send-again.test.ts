// `ledger send-again`, as staff call it.
import test from 'ava';
import { paymentStream } from '../../src/events/payment.ts';
import { until } from '../embedded/helpers.ts';
import { clockAt, runLedger, settingsFor } from '../support/ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import { makePayment, paymentEvents, startCallbacks, startLedger, untilHistory } from './helpers.ts';
import { startReceiver, status } from './receiver.ts';

const postgres = await createDatabase();

const id = '5K3M9QW2Z7TCV8XN4RBJ6HYDFE';

test('one delivery, a range, and what makes no sense', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t, status(410));
  startCallbacks(t, ledger);
  const settings = settingsFor({ esdbUrl: ledger.store.url, databaseUrl: ledger.database.url });
  const ledgerSendAgain = (...args: string[]) => runLedger(['send-again', ...args], settings);
  await makePayment(ledger, id, paymentEvents(id, receiver.url, 'succeeded'));
  await untilHistory(ledger, id, 1);
  await until(
    async () =>
      (await ledger.database.db('reactor_deliveries.deliveries').where('state', 'abandoned')).length === 1,
  );

  // The payment's times are those of the tests' clock, which stands still before the time at which this asks.
  ledger.clock.set(Date.now() + 60_000);
  t.is((await ledgerSendAgain(id, 'callback-1')).stdout, '1 delivery is due again, 0 refused.\n');
  const history = await untilHistory(ledger, id, 3);
  t.deepEqual(
    history.map(({ type }) => type),
    ['CallbackAbandoned', 'CallbackRequested', 'CallbackAbandoned'],
  );
  const asked = (await ledger.store.eventStore.load(paymentStream(id))).find(
    ({ type }) => type === 'CallbackRequested',
  );
  t.regex(Reflect.get(asked?.metadata ?? {}, 'actor'), /^staff:./);

  const untilAbandoned = (attempts: number) =>
    until(
      async () =>
        (await ledger.database.db('reactor_deliveries.deliveries').where({ state: 'abandoned', attempts }))
          .length === 1,
    );
  await untilAbandoned(2);
  const range = ['--from', '2026-11-20T00:00:00+08:00', '--to', '2099-01-01T00:00:00Z'];
  // Rows that are about no payment, as a table can hold that is behind or ahead of its log: each is refused.
  const { db } = ledger.database;
  const [row] = await db('reactor_deliveries.deliveries');
  const called_at = '2026-11-20T00:00:00Z';
  const stray = { ...row, transaction_id: '0'.repeat(26), receiver: 'stray', called_at };
  await db('reactor_deliveries.deliveries').insert([
    stray,
    { ...stray, ordering_key: 'email', delivery: 'email', kind: 'email' },
  ]);
  t.like(await ledgerSendAgain(...range, '--kind', 'email'), {
    code: 1,
    stdout: '0 deliveries are due again, 1 refused.\n',
    stderr: 'Payment not found.\n',
  });
  t.is(
    (await ledgerSendAgain(...range)).stdout,
    '1 delivery is due again, 1 refused.\n',
    'no email, and what comes after one that is refused',
  );
  t.is(
    (await ledgerSendAgain(...range, '--receiver', 'https://x.example')).stdout,
    '0 deliveries are due again, 0 refused.\n',
  );

  const aMinuteAgo = new Date(Date.now() - 60_000);
  await db('reactor_deliveries.deliveries').where({ kind: 'email' }).update({ called_at: aMinuteAgo });
  const open = ['send-again', '--from', '2000-01-01', '--kind', 'email'];
  t.like(
    await runLedger(open, settings, { nodeOptions: clockAt('2001-01-01T00:00:00Z') }),
    { stdout: '0 deliveries are due again, 1 refused.\n' },
    'without --to, the range ends now, whatever the clock of the machine says',
  );

  t.like(await ledgerSendAgain(id, 'callback-7'), {
    code: 1,
    stderr: 'This payment has no such delivery.\n',
  });
  await untilAbandoned(3);
  const asJson = await ledgerSendAgain(id, 'callback-1', '--json');
  t.deepEqual(
    JSON.parse(asJson.stdout || 'null'),
    { asked: 1, dueAlready: 0, refused: 0, reasons: [] },
    asJson.stderr,
  );
  const wrong = [
    [],
    ['x', 'y'],
    [id],
    ['--from', 'today'],
    [...range, '--state', 'waiting'],
    [...range, '--kind', 'fax'],
    ['--from', '2026-11-22', '--to', '2026-11-20'],
    ['--from', '2099-01-01'],
    [...range, '--receiver', 'merchant.example'],
    [...range, '--receiver', 'merchant.example:443'],
    [id, 'email', ...range],
  ];
  const answers = await Promise.all(wrong.map((args) => ledgerSendAgain(...args)));
  t.deepEqual(
    answers.map((answer) => Reflect.get(answer, 'code')),
    wrong.map(() => 2),
  );
});

test('a delivery that is due anyway is counted as that', async (t) => {
  const ledger = await startLedger(t, await createDatabase());
  const settings = settingsFor({ esdbUrl: ledger.store.url, databaseUrl: ledger.database.url });
  await makePayment(ledger, id, paymentEvents(id, 'https://merchant.example', 'succeeded'));
  t.like(await runLedger(['send-again', id, 'callback-1'], settings), {
    code: 0,
    stdout: '0 deliveries are due again, 1 due already, 0 refused.\n',
  });
  await until(async () => (await ledger.database.db('reactor_deliveries.deliveries')).length > 0);
  await ledger.database.db('reactor_deliveries.deliveries').update({ state: 'abandoned' });
  const range = ['--from', '2026-11-20T00:00:00+08:00', '--to', '2099-01-01T00:00:00Z'];
  for (const [url, found] of [
    ['https://merchant.example/callback?to=1', 1],
    ['https://other.example', 0],
  ] as const) {
    const { stdout } = await runLedger(['send-again', ...range, '--receiver', url, '--json'], settings);
    t.like(JSON.parse(stdout), { dueAlready: found }, 'any URL of the receiver names it');
  }
  const { stdout } = await runLedger(['send-again', id, 'callback-1', '--json'], settings);
  t.deepEqual(JSON.parse(stdout), { asked: 0, dueAlready: 1, refused: 0, reasons: [] });
});
