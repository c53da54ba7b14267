/** What the gateway and its registry export for reconciliation: CSV, the latest orders first. */
import type Router from '@koa/router';
import { stringify } from 'csv-stringify/sync';
import type { Orders } from './orders.ts';
import { resultFields } from './result-fields.ts';

/** Orders: a sandbox has few. */
export const maxExported = 10_000;

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

/** Adds `/export.csv`: every charge with its latest status. It names no buyer. */
export function addSettlement(router: Router, { orders, secret }: { orders: Orders; secret: string }): void {
  router.get('/export.csv', (ctx) => {
    const rows = orders.recent(maxExported).flatMap((order) =>
      orders.charges(order.orderNo).map((charge) => ({
        ...resultFields(order, charge, secret),
        CURRENCY: 'MYR',
      })),
    );
    ctx.type = 'text/csv';
    ctx.body = csvOf(settlementColumns, rows);
  });
}

/** A header and the rows; a cell that a spreadsheet would run begins with an apostrophe. */
export function csvOf(columns: readonly string[], rows: readonly object[]): string {
  return stringify([...rows], { columns: [...columns], header: true, escape_formulas: true });
}
