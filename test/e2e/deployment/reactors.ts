// Deliveries need only the event store, Postgres and the reactors: without the projections role nothing waits.
import test from 'ava';
import { paymentStream, readPaymentEvent } from '../../../src/events/payment.ts';
import { until } from '../../embedded/helpers.ts';
import { append } from '../../projections/helpers.ts';
import { startReceiver } from '../../reactors/receiver.ts';
import { chosen } from '../../support/payments.ts';
import { listOf, registryRecord } from '../../support/registry.ts';
import { gatewayResult, paymentRequest, postResult, requestPayment } from '../ledger.ts';
import { eventStore, ledger, registry } from './service.ts';

test.serial(
  'a lost result is found, and its callback leaves, while the projections role is dead',
  async (t) => {
    await ledger.projections.kill();
    const receiver = await startReceiver(t);

    const body = paymentRequest('ALONE-2', { callback_url: receiver.url });
    const { data } = (await (await requestPayment(ledger.baseUrl, body)).json()) as {
      data: { transaction_id: string };
    };
    const id = data.transaction_id;
    registry.answer(listOf(registryRecord(id, { amount: body.amount })));
    const anHourAgo = new Date(Date.now() - 60 * 60_000).toISOString();
    await append(eventStore, id, [chosen(1, { at: anHourAgo, sellerOrderNo: `${id}-1` })], 0);
    await until(() => receiver.received.length === 1);
    const paid = (await eventStore.load(paymentStream(id)))[2];
    t.like(paid && readPaymentEvent(paid), { type: 'PaymentSucceeded', data: { source: 'requery' } });
    t.is(registry.asked.length, 1);
  },
);

test.serial('callbacks and emails leave while the projections role is dead', async (t) => {
  const receiver = await startReceiver(t);

  const body = paymentRequest('ALONE-1', { callback_url: receiver.url });
  const asked = await requestPayment(ledger.baseUrl, body);
  const { data } = (await asked.json()) as { data: { transaction_id: string } };
  const id = data.transaction_id;
  t.is((await postResult(ledger.baseUrl, gatewayResult(id))).status, 303);
  const types = async () =>
    (await eventStore.load(paymentStream(id))).map((event) => readPaymentEvent(event).type).toSorted();
  await until(async () => (await types()).length === 4);
  t.deepEqual(await types(), [
    'CallbackDelivered',
    'PaymentRequested',
    'PaymentSucceeded',
    'ReceiptEmailSent',
  ]);
  t.is(receiver.received[0]?.headers['webhook-id'], `${id}-callback-1`);

  await ledger.reactors.crash();
  t.is((await postResult(ledger.baseUrl, gatewayResult(id))).status, 303);
  t.is(receiver.received.length, 1, 'and once');
});
