// Callbacks whose payment cannot be read for a while: they wait, and no attempt is recorded.
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { createLog } from '@ledger/kernel/log.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import test from 'ava';
import { createExecute } from '../../../src/commands/execute.ts';
import { paymentDecider } from '../../../src/commands/payment.ts';
import { UnreadableEvent } from '../../../src/events/codec.ts';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { query } from '../../embedded/helpers.ts';
import { personalData } from '../../support/personal-data.ts';
import { createDatabase } from '../../support/postgres.ts';
import { testRuntime } from '../../support/runtime.ts';
import {
  historyOf,
  makePayment,
  paymentEvents,
  startCallbacks,
  startLedger,
  until,
  untilHistory,
} from '../helpers.ts';
import { ok, startReceiver } from '../receiver.ts';

const postgres = await createDatabase();

const unreadable: Record<string, (isAway: () => boolean) => Parameters<typeof startCallbacks>[2]> = {
  'personal data': (isAway) => ({
    openSealed: async (...args) =>
      isAway() ? { kind: 'unavailable', isLost: false } : await personalData.open(...args),
  }),
  'the secrets that sign it': (isAway) => {
    const get = () => {
      if (isAway()) throw new KeysUnavailable('away');
      return undefined;
    };
    return { merchants: Object.assign(new Map<never, never>(), { get }) };
  },
};

for (const [what, changes] of Object.entries(unreadable))
  test.serial(`while ${what} cannot be read a callback waits, and no attempt is recorded`, async (t) => {
    const ledger = await startLedger(t, postgres);
    const receiver = await startReceiver(t);
    let isAway = true;
    startCallbacks(
      t,
      ledger,
      changes(() => isAway),
    );
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    const { db } = ledger.database;
    // Given back, no longer attempted: the clock stands still from here on.
    await until(async () => {
      const [{ lease_until, leased_by }] = await db('reactor_deliveries.deliveries');
      return lease_until !== null && leased_by === null;
    });
    t.deepEqual(await historyOf(ledger, 'P1'), []);
    t.is(receiver.received.length, 0);
    isAway = false;
    ledger.clock.set(ledger.clock.now().getTime() + 60_000);
    await untilHistory(ledger, 'P1', 1);
    t.is(receiver.received.length, 1);
  });

test.serial('that deliveries wait for the event store is said once in a minute', async (t) => {
  const ledger = await startLedger(t, postgres);
  const lines: string[] = [];
  const heard = createLog('info', 'reactors', {
    write: (line: string) => void lines.push(JSON.parse(line).msg),
  });
  let tried = 0;
  startCallbacks(t, ledger, {
    log: heard,
    eventStore: {
      load: async (streamName) => {
        tried += 1;
        throw new EventStoreUnavailable(`Cannot read stream ${streamName}: The event store does not answer`);
      },
    },
  });
  for (const id of ['P1', 'P2'])
    await makePayment(ledger, id, paymentEvents(id, 'http://127.0.0.1:1/', 'succeeded'));
  const { db } = ledger.database;
  const isGivenBack = async () =>
    (await db('reactor_deliveries.deliveries').whereNotNull('leased_by')).length === 0;
  for (const times of [1, 2, 3]) {
    await until(async () => tried >= 2 * times && (await isGivenBack()));
    ledger.clock.set(ledger.clock.now().getTime() + 6_000);
  }
  t.deepEqual(lines, ['deliveries wait for a store']);
});

test.serial('that an attempt cannot be recorded because of an unreadable event is a warning', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t, ok);
  const lines: { level: number; msg: string; wasSent: boolean }[] = [];
  startCallbacks(t, ledger, {
    log: createLog('warn', 'reactors', { write: (line: string) => void lines.push(JSON.parse(line)) }),
    execute: async () => {
      throw new UnreadableEvent('Unknown event type PaymentVanished');
    },
  });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await until(() => lines.length > 0);
  t.like(lines[0], { level: 40, msg: 'a delivery could not be attempted or recorded', wasSent: true });
});

test.serial(
  'an attempt that cannot be recorded is recorded as interrupted before the next one',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    let isAway = false;
    const receiver = await startReceiver(t, (response) => {
      isAway = true;
      response.end('ok');
    });
    let refused = 0;
    const unlessAway =
      <Given extends unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
      async (...given: Given) => {
        if (!isAway) return await call(...given);
        refused += 1;
        throw new EventStoreUnavailable('The event store does not answer');
      };
    const { eventStore } = ledger.store;
    const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
    const reactor = startCallbacks(t, ledger, {
      eventStore: { load: unlessAway(eventStore.load) },
      execute: unlessAway(execute),
      leaseMs: 60_000,
      runtime: testRuntime({
        now: ledger.clock.now,
        sleep: (ms, signal) => systemRuntime.sleep(ms / 100, signal),
      }),
    });
    await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
    // Four times after it was sent, and once at the next claim.
    for (const times of [4, 5]) {
      await until(() => refused === times);
      ledger.clock.set(ledger.clock.now().getTime() + 60_000);
      reactor.wake();
    }
    receiver.answer = ok;
    isAway = false;
    t.like(await untilHistory(ledger, 'P1', 2), [
      { type: 'CallbackAttemptFailed', data: { attempt: 1, status: null } },
      { type: 'CallbackDelivered', data: { attempt: 2, status: 200 } },
    ]);
  },
);

test.serial('a callback does not wait for personal data whose key is lost', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger, { openSealed: async () => ({ kind: 'unavailable', isLost: true }) });
  await makePayment(ledger, 'P1', paymentEvents('P1', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P1', 1);
  t.is(JSON.parse(receiver.received[0]?.body ?? '').buyer_name, '');
});

test.serial('a payment with an event that cannot be read waits, and no other does', async (t) => {
  const ledger = await startLedger(t, postgres);
  const receiver = await startReceiver(t);
  startCallbacks(t, ledger);
  const unknown = { type: 'PaymentTeleported', data: {} } as unknown as PaymentEvent;
  await makePayment(ledger, 'P1', [...paymentEvents('P1', receiver.url, 'succeeded'), unknown]);
  await makePayment(ledger, 'P2', paymentEvents('P2', receiver.url, 'succeeded'));
  await untilHistory(ledger, 'P2', 1);
  const [row] = await until(async () => {
    const rows = await query(
      postgres.url,
      `select lease_until from reactor_deliveries.deliveries
       where transaction_id = 'P1' and leased_by is null and lease_until is not null`,
    );
    return rows.length > 0 && rows;
  });
  t.deepEqual(row?.lease_until, new Date('2026-11-20T01:15:00Z'), 'ten minutes later');
  t.is(receiver.received.length, 1);
});
