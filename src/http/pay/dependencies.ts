/** What the steps of a channel are given. Each names the few things that it uses. */
import type { Channel } from '../../events/payment.ts';
import type { Dependencies } from '../server/dependencies.ts';
import type { LeadToReceipt } from './lead-to-receipt.ts';
import type { ReadPayment } from './load-payment.ts';
import type { PaymentPageDependencies } from './payment-page.ts';
import type { ReceiptPageDependencies } from './receipt-page.ts';

export type ChannelDependencies = Dependencies &
  PaymentPageDependencies &
  ReceiptPageDependencies & { channel: Channel; leadToReceipt: LeadToReceipt; readPayment: ReadPayment };
