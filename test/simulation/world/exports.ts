/** The gateway's exports, which staff import. */
import type { Bank } from './bank.ts';
import { malaysianTime, ringgit } from './gateway.ts';

export async function* fileOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The registry's export of all that it knows now. */
export function registryExport(bank: Bank): string {
  const statuses = { charged: '1', declined: '2', cancelled: '2', open: '0' } as const;
  const known = [...bank.otherTransactions, ...bank.orders.values()].filter(
    ({ registry }) => registry !== 'missing',
  );
  const rows = known.map((order) => {
    const { amountSen, chargeId, endedAtMs, orderNo, registry, status, transactionId } = order;
    const charge = bank.charges.find(({ id, orderNo: of }) => id === chargeId && of === orderNo);
    return [
      bank.orders.get(orderNo) === order ? orderNo : `${orderNo}-${chargeId}`,
      transactionId,
      statuses[registry ? 'open' : status],
      chargeId,
      ringgit(charge?.amountSen ?? amountSen),
      malaysianTime(endedAtMs),
    ].join(',');
  });
  const header = 'id,merchant_trans_id,eps_status,gateway_id1,amount,payment_datetime';
  return `${[header, ...rows].join('\n')}\n`;
}

/** The gateway's export as it was at a time: an attempt that had not ended then is pending. */
export function exportAt(bank: Bank, atMs: number): string {
  const statuses = { charged: '1', declined: '0', cancelled: '2', open: '3' } as const;
  const others = bank.otherTransactions.filter(({ endedAtMs }) => endedAtMs <= atMs);
  const rows = [...others, ...bank.orders.values()]
    .filter((order) => order.startedAtMs <= atMs)
    .map((order) => {
      const hasEnded = order.status !== 'open' && order.endedAtMs <= atMs;
      const charge = bank.charges.find(
        ({ id, orderNo }) => id === order.chargeId && orderNo === order.orderNo,
      );
      const wasCharged = charge && atMs < (charge.reversedAtMs ?? Number.POSITIVE_INFINITY);
      return [
        order.transactionId,
        order.chargeId,
        order.orderNo,
        hasEnded ? statuses[wasCharged ? 'charged' : order.status] : '3',
        ringgit(hasEnded ? (charge?.amountSen ?? order.amountSen) : order.amountSen),
        order.mode,
        malaysianTime(hasEnded ? order.endedAtMs : order.startedAtMs),
        order.merchant,
        'MYR',
      ].join(',');
    });
  const header =
    'TRANS_ID,PAYMENT_TRANS_ID,MERCHANT_ORDER_NO,STATUS,AMOUNT,PAYMENT_MODE,PAYMENT_DATETIME,MERCHANT_CODE,CURRENCY';
  return `${[header, ...rows].join('\n')}\n`;
}
