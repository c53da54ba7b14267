/** The reactor of the land registry's items, and payments of many items. */
import { createOutbound } from '@ledger/outbound/post.ts';
import type { ExecutionContext } from 'ava';
import { createReportItem } from '../../src/clients/land-registry/callback.ts';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { createLandRegistryCallback } from '../../src/reactors/callbacks/land-registry-callback.ts';
import { registryToken } from '../sandbox/helpers.ts';
import { payer as aminah, chosen, request, result, sen, succeeded } from '../support/payments.ts';
import { testRuntime } from '../support/runtime.ts';
import { type DeliveryWorker, type Ledger, startCallbacks } from './helpers.ts';

/** As `ledger reactors` has it; it ends with the test. */
export function startItems(
  t: Pick<ExecutionContext, 'teardown'>,
  ledger: Ledger,
  callbackUrl: string,
  changes: Parameters<typeof startCallbacks>[2] = {},
): DeliveryWorker {
  const runtime = testRuntime({ now: ledger.clock.now });
  const reportItem = createReportItem({
    config: {
      callbackUrl,
      accessToken: registryToken,
      dimasuk: 'EPAYMENT',
      timeoutMs: 10_000,
      attempts: 3,
      pauseMs: 5,
    },
    post: createOutbound({ allowHosts: ['127.0.0.1'], httpsOnly: false, runtime }),
    runtime,
  });
  const perform = createLandRegistryCallback({ reportItem, runtime });
  return startCallbacks(t, ledger, { name: 'land-registry-callback', kind: 'item', perform, ...changes });
}

export const titleOf = (item: number) => `080102GRN${String(item).padStart(8, '0')}`;

/** A payment of so many items, each of a land title of its own, that succeeded. */
export function paymentOfItems(transactionId: string, count: number): PaymentEvent[] {
  const items = Array.from({ length: count }, (_, index) => ({
    description: 'Quit rent',
    titleId: titleOf(index + 1),
    amountSen: sen(10_000 + index),
  }));
  const amountSen = sen(items.reduce((sum, item) => sum + item.amountSen, 0));
  const payer = { ...aminah, email: '' };
  const data = request({ channel: 'landreg', transactionId, items, amountSen, payer });
  const success = result(1, 'succeeded', { amountSen });
  return [
    { type: 'PaymentRequested', data },
    chosen(1),
    succeeded(success, { receiptNo: `7-20261120-${transactionId}` }),
  ];
}
