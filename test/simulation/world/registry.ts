/** The transaction registry, which knows every attempt that has ended, except during its outages. */
import { createServer } from 'node:http';
import type { SimulatedProcess } from '../engine/process.ts';
import type { RegistryTrouble } from '../plan.ts';
import type { Bank, Order } from './bank.ts';
import { malaysianTime, ringgit } from './gateway.ts';

const statusOf = { charged: '1', declined: '2', cancelled: '2', open: '0' } as const;

const statusInRegistry = ({ isPending, registry, status }: Order): string =>
  !registry && isPending && status === 'open' ? '3' : statusOf[registry ? 'open' : status];

const slowMs = 9_000;

export function startTransactionRegistry({ process, bank }: { process: SimulatedProcess; bank: Bank }) {
  let trouble: RegistryTrouble | null = null;
  const chargeOf = ({ chargeId, orderNo }: Order) =>
    bank.charges.find((each) => each.id === chargeId && each.orderNo === orderNo);
  process.enter(() =>
    createServer(async (request, response) => {
      const url = new URL(request.url ?? '', 'http://registry.example');
      if (trouble === 'hangs') return;
      if (trouble === 'fails') {
        response.statusCode = 500;
        response.end();
        return;
      }
      // Just within the time that the program waits for it.
      if (trouble === 'slow') await process.runtime.sleep(slowMs);
      const query = url.searchParams;
      const isOfLand = url.pathname === '/transaction-extras';
      const record = /^\/transactions\/(.+)$/.exec(url.pathname)?.[1];
      const orders = [...bank.orders.values()].filter((order) => order.registry !== 'missing');
      const extras = orders
        .filter(({ reference }) => reference === query.get('value'))
        .map(({ orderNo, reference }) => ({
          key: query.get('key'),
          value: reference,
          transaction_id: orderNo,
        }));
      const transactions = bank.otherTransactions.filter(({ registry }) => registry !== 'missing');
      const records = [...transactions, ...orders]
        .filter((order) =>
          [order.transactionId, order.orderNo].includes(record ?? query.get('merchant_trans_id') ?? ''),
        )
        .map((order) => ({
          id: bank.orders.get(order.orderNo) === order ? order.orderNo : `${order.orderNo}-${order.chargeId}`,
          merchant_trans_id: order.transactionId,
          eps_status: statusInRegistry(order),
          receipt_no: '',
          payment_mode: order.mode,
          gateway_id1: order.chargeId,
          buyer_bank: 'Bank Contoh',
          buyer_name: 'A PAYER',
          amount: ringgit(chargeOf(order)?.amountSen ?? order.amountSen),
          payment_datetime: malaysianTime(order.endedAtMs),
        }));
      response.setHeader('content-type', 'application/json');
      const found = isOfLand
        ? extras
        : record === undefined
          ? records
          : records.find(({ id }) => id === record);
      const body = JSON.stringify(trouble === 'empty' ? [] : found) ?? '';
      const half = body.slice(0, body.length / 2);
      if (trouble !== 'breaks') return void response.end(trouble === 'garbled' ? half : body);
      response.setHeader('content-length', body.length + 1);
      response.write(half);
      await process.runtime.sleep(100);
      response.destroy();
    }).listen(80),
  );
  return {
    setTrouble: (next: RegistryTrouble | null) => {
      trouble = next;
    },
  };
}
