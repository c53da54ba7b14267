/** The exports of the gateway and its registry for reconciliation: CSV, newest orders first. */
import type Router from '@koa/router';
import { stringify } from 'csv-stringify/sync';
import type { Orders } from './orders.ts';
import { resultFields } from './result-fields.ts';

export const maxExportedOrders = 10_000;

const settlementColumns = [
  'TRANS_ID',
  'PAYMENT_TRANS_ID',
  'MERCHANT_ORDER_NO',
  'STATUS',
  'AMOUNT',
  'PAYMENT_MODE',
  'PAYMENT_DATETIME',
  'RECEIPT_NO',
  'MERCHANT_CODE',
  'CURRENCY',
] as const;

/** Adds `/export.csv`: every charge with its latest status, without the buyer's name. */
export function addSettlement(router: Router, { orders, secret }: { orders: Orders; secret: string }): void {
  router.get('/export.csv', (ctx) => {
    const rows = orders.recent(maxExportedOrders).flatMap((order) =>
      orders.charges(order.orderNo).map((charge) => ({
        ...resultFields(order, charge, secret),
        CURRENCY: 'MYR',
      })),
    );
    ctx.type = 'text/csv';
    ctx.body = csvOf(settlementColumns, rows);
  });
}

/** A header and the rows; a cell that a spreadsheet would execute is prefixed with an apostrophe. */
export function csvOf(columns: readonly string[], rows: readonly object[]): string {
  return stringify([...rows], { columns: [...columns], header: true, escape_formulas: true });
}
