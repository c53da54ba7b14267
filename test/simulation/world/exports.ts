/** The gateway's exports, which staff import. */
import type { Bank } from './bank.ts';
import { malaysianTime, ringgit } from './gateway.ts';

export async function* fileOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The gateway's export as it was at a time: an attempt that had not ended then is pending. */
export function exportAt(bank: Bank, atMs: number): string {
  const statuses = { charged: '1', declined: '0', cancelled: '2', open: '3' } as const;
  const rows = [...bank.orders.values()]
    .filter((order) => order.startedAtMs <= atMs)
    .map((order) => {
      const hasEnded = order.status !== 'open' && order.endedAtMs <= atMs;
      const charge = bank.charges.find(({ orderNo }) => orderNo === order.orderNo);
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
