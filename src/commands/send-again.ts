/** Sends deliveries again, one or many, for the command line and the console. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { DeliveryKind } from '../events/deliveries.ts';
import type { Cause } from '../events/envelope.ts';
import { paymentStream } from '../events/payment.ts';
import { Refused } from './decider.ts';
import type { ExecuteOf } from './execute.ts';
import type { paymentDecider } from './payment.ts';

export type DeliveryId = { transactionId: string; delivery: string };

/** Receiving systems recognise a repeat by its id, people do not: emails are sent again only when asked for by kind. */
export const kindsOfMachines: readonly DeliveryKind[] = ['callback', 'item'];

export type Requested = {
  /** How many are due again; those that were already due are not counted. */
  asked: number;
  refused: number;
  /** Each reason once. */
  reasons: readonly string[];
};

type Dependencies = {
  execute: ExecuteOf<typeof paymentDecider>;
  cause: () => Cause;
  runtime: Pick<Runtime, 'now'>;
};

/** Continues when one is refused. Throws EventStoreUnavailable; the deliveries before that are due again. */
export async function requestDeliveries(
  { execute, cause, runtime }: Dependencies,
  chosen: readonly DeliveryId[],
): Promise<Requested> {
  let asked = 0;
  let refused = 0;
  const reasons = new Set<string>();
  for (const { transactionId, delivery } of chosen) {
    const command = { type: 'RequestDelivery', at: runtime.now().toISOString(), delivery } as const;
    try {
      asked += (await execute(paymentStream(transactionId), command, cause())).events.length;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused += 1;
      reasons.add(error.message);
    }
  }
  return { asked, refused, reasons: [...reasons] };
}
