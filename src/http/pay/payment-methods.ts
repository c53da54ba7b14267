/** Which payment methods a payment can use, and at what charge. */
import type { Merchant } from '../../config/merchants.ts';
import type { PaymentMethod, PaymentMethods } from '../../config/payment-methods.ts';
import type { PaymentRequested } from '../../events/payment.ts';
import { addSen, type Sen } from '../../kernel/money.ts';

export type Offer = Pick<PaymentMethod, 'mode' | 'minSen' | 'maxSen' | 'banks'> & {
  chargeSen: Sen;
  /** What the payer pays with this method, charge included: limits are the gateway's, so they are held to this. */
  totalSen: Sen;
  outsideLimits: 'below' | 'above' | null;
};

/** Every method on offer, in the order of the page; `merchant` is undefined once it has left the configuration. */
export function offersFor(
  { amountSen }: Pick<PaymentRequested, 'amountSen'>,
  methods: PaymentMethods,
  merchant: Pick<Merchant, 'charges'> | undefined,
): Offer[] {
  return Array.from(methods.values(), ({ mode, minSen, maxSen, banks, ...method }) => {
    const chargeSen = merchant?.charges[mode] ?? method.chargeSen;
    const totalSen = addSen(amountSen, chargeSen);
    const below = minSen !== null && totalSen < minSen;
    const above = maxSen !== null && totalSen > maxSen;
    const outsideLimits = below ? 'below' : above ? 'above' : null;
    return { mode, minSen, maxSen, banks, chargeSen, totalSen, outsideLimits };
  });
}
