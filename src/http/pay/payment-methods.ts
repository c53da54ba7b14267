/** Which payment methods a payment can use, and at what fee. */
import { addSen } from '../../common/money.ts';
import type { Config } from '../../config/config.ts';
import { outstandingSen } from '../../events/adjustments.ts';
import type { RequestedPayment } from '../../events/payment.ts';

export type Offer = ReturnType<typeof offersFor>[number];

/** Every method, in the order of the page. A merchant that is no longer configured has no fees of its own. */
export function offersFor(
  payment: Pick<RequestedPayment, 'request' | 'paidSen'>,
  { merchants, methods }: Pick<Config, 'merchants' | 'methods'>,
) {
  const charges = merchants.get(payment.request.merchant.code)?.charges;
  return Array.from(methods.values(), ({ mode, minSen, maxSen, banks, ...method }) => {
    const chargeSen = charges?.[mode] ?? method.chargeSen;
    /** What the payer pays with this method, including the fee; the gateway's limits apply to it. */
    const totalSen = addSen(outstandingSen(payment), chargeSen);
    const below = minSen !== null && totalSen < minSen;
    const above = maxSen !== null && totalSen > maxSen;
    const outsideLimits = below ? ('below' as const) : above ? ('above' as const) : null;
    return { mode, minSen, maxSen, banks, chargeSen, totalSen, outsideLimits };
  });
}
