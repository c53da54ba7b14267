/** Reports one item of a payment that succeeded to the land registry: content/docs/land-registry-callbacks.md. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { isSuccess } from '@ledger/outbound/post.ts';
import { type PaidItem, type ReportItem, readReply } from '../../clients/land-registry/callback.ts';
import { receiptOf } from '../../receipts/receipt.ts';
import {
  type DeliveryTask,
  failure,
  type PerformDelivery,
  withoutPayer,
} from '../deliveries/delivery-task.ts';
import { outcomeOfError, outcomeOfRefusal } from '../deliveries/receiver-answer.ts';

type Dependencies = { reportItem: ReportItem; runtime: Pick<Runtime, 'now'> };

export function createLandRegistryCallback({ reportItem, runtime }: Dependencies): PerformDelivery {
  return async (task) => {
    // The account or IC number would be missing.
    const unsent = withoutPayer(task.payment.access);
    if (unsent) return unsent;
    const item = paidItemOf(task);
    try {
      const answer = await reportItem(item, task);
      const { status, isRepeat } = answer;
      const verdict = readReply(answer);
      // Sent once, the number is that of something else; a repeat may have arrived before.
      if (verdict === 'duplicate' && !isRepeat && task.delivery.attempts === 0)
        return { kind: 'abandoned', status, reason: 'refused as a duplicate' };
      if (verdict === 'accepted' || verdict === 'duplicate')
        return { kind: 'delivered', status, messageId: item.receiptNo };
      if (!isSuccess(answer)) return outcomeOfRefusal(answer, runtime.now());
      const reason = verdict === 'refused' ? 'refused by the land registry' : 'answered no readable reply';
      return failure(reason, { status });
    } catch (error) {
      return outcomeOfError(error);
    }
  };
}

export function paidItemOf({ payment, planned }: Pick<DeliveryTask, 'payment' | 'planned'>): PaidItem {
  if (planned.kind !== 'item') throw new Error(`${planned.key} is no item`);
  const { request } = payment;
  const receipt = receiptOf(payment);
  const index = planned.item - 1;
  const [item, itemOfReceipt] = [request.items[index], receipt.items[index]];
  if (!item || !itemOfReceipt) throw new Error(`The payment has no ${planned.key}`);
  return {
    accountNo: textOf(request.extra.account_no) || request.payer.icNo,
    titleId: item.titleId,
    branchCode: request.branchCode,
    receiptNo: itemOfReceipt.receiptNo || receipt.receiptNo,
    amountSen: item.amountSen,
    paidAt: receipt.at,
    mode: receipt.mode,
    fpxNo: receipt.fpxNo,
    transactionId: request.transactionId,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
