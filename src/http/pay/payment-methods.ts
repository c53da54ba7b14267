/** Which payment methods a payment can use, and at what fee. */
import { addSen, type Sen } from '../../common/money.ts';
import type { Config } from '../../config/config.ts';
import type { PaymentMethod } from '../../config/payment-methods.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { RequestedPayment } from '../../events/payment.ts';

export type Offer = Pick<PaymentMethod, 'mode' | 'minSen' | 'maxSen' | 'banks'> & {
  chargeSen: Sen;
  /** What the payer pays with this method, including the fee; the gateway's limits apply to it. */
  totalSen: Sen;
  outsideLimits: 'below' | 'above' | null;
};

/** Every method, in the order of the page. A merchant that is no longer configured has no fees of its own. */
export function offersFor(
  payment: Pick<RequestedPayment, 'request' | 'paidSen'>,
  { merchants, methods }: Pick<Config, 'merchants' | 'methods'>,
): Offer[] {
  const charges = merchants.get(payment.request.merchant.code)?.charges;
  return Array.from(methods.values(), ({ mode, minSen, maxSen, banks, ...method }) => {
    const chargeSen = charges?.[mode] ?? method.chargeSen;
    const totalSen = addSen(outstandingSen(payment), chargeSen);
    const below = minSen !== null && totalSen < minSen;
    const above = maxSen !== null && totalSen > maxSen;
    const outsideLimits = below ? 'below' : above ? 'above' : null;
    return { mode, minSen, maxSen, banks, chargeSen, totalSen, outsideLimits };
  });
}
