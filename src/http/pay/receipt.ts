/** GET /<channel>/receipt/{id}: the receipt, or the statement of a payment that has not succeeded. */
import type { Context } from '../server/context.ts';
import type { PayerPages } from './pages.ts';
import type { ReadPayment } from './read-payment.ts';

export function createReceipt({ readPayment, pages }: { readPayment: ReadPayment; pages: PayerPages }) {
  return async (ctx: Context): Promise<void> => {
    const { payment } = await readPayment(ctx.params.id ?? '');
    await pages.showReceipt(ctx, payment);
  };
}
