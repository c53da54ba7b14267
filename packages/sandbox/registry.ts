/**
 * The gateway's transaction registry: a merchant's system asks it for the status of a payment, for example when the
 * result never arrived. Like the real one, it has its own numbers for statuses.
 */
import type Router from '@koa/router';
import type { Context, Next } from 'koa';
import { csvOf, maxExportedOrders } from './exports.ts';
import type { Order, Orders, Result } from './orders.ts';
import type { Status } from './outcomes.ts';
import { bankName, malaysianTime, receiptNo, ringgit } from './result-fields.ts';

/** By the gateway's status. A cancellation has the same number as a failure; only the message tells them apart. */
const statuses: Readonly<Record<Status, readonly [epsStatus: string, message: string]>> = {
  '0': ['2', 'Failed'],
  '1': ['1', 'Successful'],
  '2': ['2', 'Cancelled by the payer'],
  '3': ['3', 'Pending authorisation'],
};

/** The key really contains a space. */
const transaksiIdKey = 'transaksi id';

/**
 * Adds `/registry/transactions`, `/registry/transactions/{id}`, `/registry/transaction-extras` and
 * `/registry/export.csv`, for callers whose Bearer token is `token`.
 */
export function addRegistry(router: Router, { orders, token }: { orders: Orders; token: string }): void {
  const authenticate = (ctx: Context, next: Next) => {
    if (ctx.get('Authorization') === `Bearer ${token}`) return next();
    ctx.set('WWW-Authenticate', 'Bearer');
    answer(ctx, 401, { message: 'The token is missing or wrong' });
  };

  router.get('/registry/transactions', authenticate, (ctx) => {
    const { merchant_trans_id: transId } = ctx.query;
    if (typeof transId !== 'string') return answer(ctx, 400, { message: 'Name one merchant_trans_id' });
    answer(ctx, 200, recordsOf(orders.ofTransaction(transId), orders));
  });

  router.get('/registry/export.csv', authenticate, (ctx) => {
    ctx.type = 'text/csv';
    ctx.body = csvOf(registryColumns, recordsOf(orders.recent(maxExportedOrders), orders));
  });

  router.get('/registry/transactions/:id', authenticate, (ctx) => {
    const { id = '' } = ctx.params;
    const record = recordsOf(orders.ofPayment(id), orders).find((candidate) => candidate.id === id);
    if (!record) return answer(ctx, 404, { message: 'There is no such transaction' });
    answer(ctx, 200, record);
  });

  router.get('/registry/transaction-extras', authenticate, (ctx) => {
    const { key, value } = ctx.query;
    if (typeof key !== 'string' || typeof value !== 'string')
      return answer(ctx, 400, { message: 'Name one key and one value' });
    const records = recordsOf(key === transaksiIdKey ? orders.ofTransaksiId(value) : [], orders);
    const extras = records.map(({ id }) => ({ transaction_id: id, key, value }));
    answer(ctx, 200, extras);
  });
}

const registryColumns = [
  'id',
  'merchant_trans_id',
  'eps_status',
  'status_message',
  'receipt_no',
  'payment_mode',
  'gateway_id1',
  'buyer_bank',
  'buyer_name',
  'amount',
  'payment_datetime',
] as const;

function answer(ctx: Context, status: number, body: object): void {
  ctx.status = status;
  ctx.body = body;
}

/** One record for each undecided order, and one for each charge with its latest status. */
function recordsOf(found: readonly Order[], orders: Orders) {
  return found.flatMap((order) => {
    const charges = orders.charges(order.orderNo);
    return charges.length === 0 ? [recordOf(order, null)] : charges.map((result) => recordOf(order, result));
  });
}

function recordOf(order: Order, result: Result | null) {
  const [epsStatus, message] = result ? statuses[result.status] : ['0', 'Attempted'];
  return {
    id: result?.paymentTransId ?? order.paymentTransId,
    merchant_trans_id: order.transId,
    eps_status: epsStatus,
    status_message: message,
    receipt_no: result?.status === '1' ? receiptNo(result) : '',
    payment_mode: order.paymentMode,
    gateway_id1: result?.paymentTransId ?? '',
    buyer_bank: result ? bankName : '',
    buyer_name: order.buyerName,
    amount: ringgit(result?.amountSen ?? order.amountSen),
    payment_datetime: result ? malaysianTime(result.decidedAtMs) : '',
  };
}
