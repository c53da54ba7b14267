// kill -9 of every process, again and again, while 500 payments are asked for and paid: what was acknowledged is
// there afterwards, once.

import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { genesisHash, hashOf, type Metadata } from '../../src/events/envelope.ts';
import { evolve, noPayment, paymentStream } from '../../src/events/payment.ts';
import { readPaymentEvent } from '../../src/events/recorded.ts';
import { connectEventStore } from '../../src/eventstore/client.ts';
import { connectDatabase } from '../../src/projections/database.ts';
import { until } from '../embedded/helpers.ts';
import {
  gatewayResult,
  log,
  paymentRequest,
  persistently,
  postResult,
  requestPayment,
  startDeployment,
} from './ledger.ts';

const payments = 500;
const inFlight = 12;

test('nothing acknowledged is lost or doubled when every process is killed in turn', async (t) => {
  t.timeout(240_000);
  const ledger = await startDeployment(t);
  const acknowledged = new Map<string, string>();

  const pay = async (reference: string) => {
    const answer = await persistently(() => requestPayment(ledger.baseUrl, paymentRequest(reference)));
    t.is(answer.status, 200, `${reference}: ${await answer.clone().text()}`);
    const { data } = (await answer.json()) as { data: { transaction_id: string } };
    const result = await persistently(() => postResult(ledger.baseUrl, gatewayResult(data.transaction_id)));
    t.is(result.status, 303, reference);
    acknowledged.set(reference, data.transaction_id);
  };

  let next = 0;
  const worker = async () => {
    while (next < payments) {
      next += 1;
      await pay(`KILL-${next}`);
    }
  };
  const done = new AbortController();
  const killing = (async () => {
    let kills = 0;
    const victims = [ledger.http, ledger.eventStore, ledger.projections, ledger.postgres];
    while (!done.signal.aborted) {
      await victims[kills % victims.length]?.crash();
      kills += 1;
      await sleep(150);
    }
    return kills;
  })();
  await Promise.all(Array.from({ length: inFlight }, worker));
  done.abort();
  const kills = await killing;
  t.log(`${kills} kills during ${payments} payments`);
  t.true(kills >= 8, 'every process was killed at least twice');

  const eventStore = connectEventStore({ url: ledger.esdbUrl, log });
  t.teardown(() => eventStore.close());
  const db = connectDatabase({ url: ledger.databaseUrl, log });
  t.teardown(() => db.destroy());
  t.is(acknowledged.size, payments);
  const rows = await until(async () => {
    const found = await db('payments.payments')
      .select('transaction_id', 'revision', 'status', 'state')
      .catch(() => []);
    return found.length === payments && found.every((row) => row.status === 'succeeded') && found;
  });
  for (const row of rows) {
    const events = await eventStore.load(paymentStream(row.transaction_id));
    t.deepEqual(
      events.map((event) => event.type),
      ['PaymentRequested', 'PaymentSucceeded'],
    );
    const state = events.map(readPaymentEvent).reduce(evolve, noPayment);
    t.deepEqual(row.state, JSON.parse(JSON.stringify(state)));
    t.is(row.revision, events.length - 1);
    let previousHash = genesisHash;
    for (const { type, data, metadata } of events) {
      t.is((metadata as Metadata).previousHash, previousHash);
      previousHash = hashOf(type, data, metadata as Metadata);
      t.is((metadata as Metadata).hash, previousHash);
    }
  }
  t.deepEqual(rows.map((row) => row.transaction_id).sort(), [...acknowledged.values()].sort());
});
