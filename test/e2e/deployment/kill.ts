// kill -9 of every process, again and again, while payments are asked for and paid: what was acknowledged is there
// afterwards, once. Five kills by default; KILLS=200 makes 200.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import test, { type ExecutionContext } from 'ava';
import {
  evolve,
  noPayment,
  paymentStream,
  type RequestedPayment,
  readPaymentEvent,
} from '../../../src/events/payment.ts';
import { until } from '../../embedded/helpers.ts';
import { checkChain } from '../../support/chain.ts';
import { gatewayResult, log, paymentRequest, persistently, postResult, requestPayment } from '../ledger.ts';
import { eventStore, ledger } from './service.ts';

const kills = Number(process.env.KILLS ?? 5);
/** By work done and not by time, so that a slow machine kills no more often. */
const paymentsPerKill = 10;
const payments = (kills + 1) * paymentsPerKill;
const inFlight = 12;

/** Every fifth payer gave an address: what takes long with a receipt is drawing it. */
const getsReceipt = (reference: string) => reference.endsWith('0') || reference.endsWith('5');

test.serial('nothing acknowledged is lost or doubled when every process is killed in turn', async (t) => {
  t.timeout(300_000 + kills * 30_000);
  const receiver = await startReceiver(t);
  const acknowledged = new Map<string, string>();

  const pay = async (number: number) => {
    const reference = `KILL-${number}`;
    const email = getsReceipt(reference) ? 'nurul@example.com' : '';
    const request = paymentRequest(reference, { callback_url: receiver.url, email });
    const answer = await persistently(() => requestPayment(ledger.baseUrl, request));
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
      await pay(next);
    }
  };
  const killing = (async () => {
    let killed = 0;
    const victims = [ledger.http, ledger.eventStore, ledger.projections, ledger.postgres, ledger.reactors];
    for (let paid = paymentsPerKill; paid < payments; paid += paymentsPerKill) {
      await until(() => acknowledged.size >= paid);
      await victims[killed % victims.length]?.crash();
      killed += 1;
    }
    return killed;
  })();
  await Promise.all(Array.from({ length: inFlight }, worker));
  const killed = await killing;
  t.log(`${killed} kills during ${payments} payments`);
  t.is(killed, kills);

  const db = connectPostgres({ url: ledger.databaseUrl, log });
  t.teardown(() => db.destroy());
  t.is(acknowledged.size, payments);
  // A delivery that was under way when its reactor was killed is taken up when its lease of a minute has run out.
  const rows = await until(async () => {
    const found = await db('payments.payments')
      .select('transaction_id', 'revision', 'state')
      .whereLike('reference', 'KILL-%')
      .catch(() => []);
    const isDone = ({ state }: { state: RequestedPayment }) =>
      state.status === 'succeeded' && state.deliveries.every((delivery) => delivery.state === 'delivered');
    return found.length === payments && found.every(isDone) && found;
  }, 5_000);
  for (const row of rows) {
    const events = await eventStore.load(paymentStream(row.transaction_id));
    const types = events.map(({ type }) => type).filter((type) => !type.endsWith('AttemptFailed'));
    t.deepEqual(types.slice(0, 2), ['PaymentRequested', 'PaymentSucceeded']);
    const emails = getsReceipt(row.state.request.reference) ? ['ReceiptEmailSent'] : [];
    t.deepEqual(types.slice(2).sort(), ['CallbackDelivered', ...emails]);
    t.true(receiver.ids.has(`${row.transaction_id}-callback-1`));
    const state = events.map(readPaymentEvent).reduce(evolve, noPayment);
    t.deepEqual(row.state, JSON.parse(JSON.stringify(state)));
    t.is(row.revision, events.length - 1);
    checkChain(t, events);
  }
  t.deepEqual(rows.map((row) => row.transaction_id).sort(), [...acknowledged.values()].sort());
  t.is(receiver.ids.size, payments, 'every payment was called back about, and under one id however often');
});

/** A merchant's server: takes every callback and remembers under which id it came. */
async function startReceiver(t: ExecutionContext): Promise<{ url: string; ids: Set<string> }> {
  const ids = new Set<string>();
  const server = createServer((request, response) => {
    ids.add(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, ids };
}
