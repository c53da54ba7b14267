/** The status of a payment as it leaves the service: in callbacks, answers and links. */
import type { PaymentStatus } from '../events/payment.ts';

export type StatusCode = '0' | '1' | '2' | '3';

const codes: Readonly<Record<PaymentStatus, StatusCode>> = {
  failed: '0',
  succeeded: '1',
  cancelled: '2',
  pending: '3',
  // The interface knows no state before the first result.
  requested: '3',
};

/** `0` failed, `1` success, `2` cancelled, `3` pending or awaiting payment. */
export const statusCodeOf = (status: PaymentStatus): StatusCode => codes[status];
