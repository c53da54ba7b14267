/** How many attempts a worker may have in progress at a time: in all, to one receiver, and for one merchant. */
import type { Breaker } from '@ledger/outbound/breaker.ts';
import type { ClaimedDelivery } from '../../to-do/delivery-queue.ts';

/** A merchant may name any number of receivers, which together get no more than its part. */
export type Concurrency = { total: number; perReceiver: number; perMerchant: number };

export function createAttemptSlots({ total, perMerchant, perReceiver }: Concurrency, breaker: Breaker) {
  /** The attempts under way at the last claim, and those that it began. Some may have ended since. */
  let taken: readonly ClaimedDelivery[] = [];

  /** How many more may be claimed beside the attempts under way. */
  const left = (underWay: readonly ClaimedDelivery[]) => ({
    limit: total - underWay.length,
    limitPerReceiver: perReceiver,
    receiverLimits: remaining(underWay.map(receiverOf), perReceiver),
    pausedLimits: remaining(underWay.map(pausedAs), perReceiver, breaker.limits()),
    limitPerMerchant: perMerchant,
    merchantLimits: remaining(underWay.map(merchantOf), perMerchant),
  });

  return {
    left,

    /** To be called after a claim, with the attempts that are then under way. */
    take(underWay: readonly ClaimedDelivery[]): void {
      taken = underWay;
    },

    /** Whether the last claim may have left a delivery for lack of a slot, which the end of this attempt frees. */
    lackedFor(ended: ClaimedDelivery): boolean {
      const { limit, receiverLimits, pausedLimits, merchantLimits } = left(taken);
      const limits = [receiverLimits.get(receiverOf(ended)), pausedLimits.get(pausedAs(ended))];
      return [limit, ...limits, merchantLimits.get(merchantOf(ended))].includes(0);
    },
  };
}

const receiverOf = ({ receiver }: ClaimedDelivery) => receiver;
const merchantOf = ({ merchantCode }: ClaimedDelivery) => merchantCode;
/** Merchants choose their receivers: one whose callbacks fail at a host must not pause another merchant there. */
export const pausedAs = ({ merchantCode, receiver }: ClaimedDelivery) => `${merchantCode} ${receiver}`;

/** How many more each receiver or merchant may have besides the attempts under way; `limits` has some already. */
function remaining(names: readonly string[], usual: number, limits = new Map<string, number>()) {
  for (const name of names) limits.set(name, Math.max(0, (limits.get(name) ?? usual) - 1));
  return limits;
}
