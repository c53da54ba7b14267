// Requests that nobody has paid in time are cancelled, unless an attempt is open; others are left alone.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import test from 'ava';
import { pino } from 'pino';
import { Refused } from '../../src/commands/decider.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { findExpired } from '../../src/projections/payments/queries.ts';
import { startExpiry } from '../../src/reactors/expiry.ts';
import { until } from '../embedded/helpers.ts';
import { startPopulated } from '../http/console/populated.ts';
import { applied, chosen, result, succeeded } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { createDatabase } from '../support/postgres.ts';

const postgres = await createDatabase();

test('requests expire once, and their merchants are told', async (t) => {
  const { app, db, payment, caughtUp } = await startPopulated(t, postgres);
  const expiresAt = '2026-11-20T03:00:00.000Z';
  // The first of the pass: its stream is said to be ahead of its row.
  const ahead = await payment([], { expiresAt });
  const expired = await payment([], { expiresAt });
  const failed = await payment([chosen(1), applied(result(1, 'failed'))], { expiresAt });
  const open = await payment([chosen(1)], { expiresAt });
  const paid = await payment([chosen(1), succeeded(result(1, 'succeeded'))], { expiresAt });
  const later = await payment([], { expiresAt: '2099-11-20T03:00:00.000Z' });
  const never = await payment([]);
  await caughtUp();
  await db('payments.payments').where({ transaction_id: never }).update({ expires_at: expiresAt });
  const by = new Date('2026-11-21T00:00:00.000Z');
  const listed: (string | undefined)[] = [''];
  for (let after: string | undefined = ''; after !== undefined; listed.push(after))
    [after] = await findExpired(db, { by, after, limit: 1 });
  t.deepEqual(listed, ['', ahead, expired, failed, never, undefined], 'page by page');
  const { eventStore } = app;
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const log = pino({ level: 'silent' });
  const runtime = {
    ...systemRuntime,
    sleep: (_: number, signal?: AbortSignal) => systemRuntime.sleep(20, signal),
  };
  const looked = new Set<string>();
  const askedWhileAway: string[] = [];
  const counted: typeof execute = async (stream, ...rest) => {
    looked.add(stream);
    if (askedWhileAway.length < 4) {
      askedWhileAway.push(stream);
      throw new EventStoreUnavailable('away');
    }
    if (stream === paymentStream(ahead)) throw new Refused('payment_succeeded', 'paid');
    return execute(stream, ...rest);
  };
  const expiry = startExpiry({ db, execute: counted, log, runtime });
  t.teardown(expiry.stop);
  const typesOf = async (id: string) => (await app.events(id)).map(({ type }) => type);
  // Although the event store was away, and one payment was refused.
  await until(async () => (await typesOf(failed)).includes('PaymentCancelled'));
  t.deepEqual(askedWhileAway, Array(4).fill(paymentStream(ahead)), 'each time, the pass ended');
  await caughtUp();
  await systemRuntime.sleep(200);
  const [, event, ...more] = await app.events(expired);
  t.like(event, {
    type: 'PaymentCancelled',
    data: { source: 'expiry', deliveries: [{ key: 'callback-1' }] },
  });
  t.deepEqual(more, [], 'once');
  t.is((await typesOf(failed)).length, 4);
  for (const [id, length] of [
    [ahead, 1],
    [open, 2],
    [paid, 3],
    [later, 1],
    [never, 1],
  ] as const)
    t.is((await typesOf(id)).length, length);
  t.false(
    looked.has(paymentStream(open)),
    'its stream is not loaded at each pass, as long as its attempt is open',
  );
});
