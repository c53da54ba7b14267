/** Sends deliveries again, one or many, for the command line and the console. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { DeliveryKind } from '../events/deliveries.ts';
import type { Cause } from '../events/envelope.ts';
import { paymentStream } from '../events/payment.ts';
import { executeEach } from './execute.ts';
import type { ExecutePayment } from './payment.ts';

export type DeliveryId = { transactionId: string; delivery: string };

/** Receiving systems recognise a repeat by its id, people do not: emails are sent again only when asked for by kind. */
export const kindsOfMachines: readonly DeliveryKind[] = ['callback', 'item'];

type Dependencies = {
  execute: ExecutePayment;
  cause: () => Cause;
  runtime: Pick<Runtime, 'now'>;
};

/** Continues when one is refused. Throws EventStoreUnavailable; the deliveries before that are due again. */
export const requestDeliveries = ({ execute, cause, runtime }: Dependencies, chosen: readonly DeliveryId[]) =>
  executeEach(chosen, ({ transactionId, delivery }) => {
    const command = { type: 'RequestDelivery', at: runtime.now().toISOString(), delivery } as const;
    return execute(paymentStream(transactionId), command, cause());
  });
