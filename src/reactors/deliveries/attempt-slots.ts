/** How many attempts a worker may have in progress at a time: in all, to one receiver, and for one merchant. */
import type { Breaker } from '@ledger/outbound/breaker.ts';
import type { DeliveryKind } from '../../events/deliveries.ts';
import type { ClaimedDelivery } from '../../to-do/delivery-queue.ts';

/** A merchant may name any number of receivers, which together get no more than its part. */
export type Concurrency = { total: number; perReceiver: number; perMerchant: number };

export function createAttemptSlots(kind: DeliveryKind, concurrency: Concurrency, breaker: Breaker) {
  const { total, perMerchant, perReceiver } = concurrency;
  /** The attempts under way at the last claim, and those that it began. Some may have ended since. */
  let taken: readonly ClaimedDelivery[] = [];

  /**
   * Merchants choose where callbacks go: one whose callbacks fail at a host must not pause another merchant there. The
   * mail server and the land registry are the same for all.
   */
  const pausedAs = ({ merchantCode, receiver }: ClaimedDelivery) =>
    kind === 'callback' ? `${merchantCode} ${receiver}` : receiver;
  const receiversOf = (each: ClaimedDelivery) => [...new Set([each.receiver, pausedAs(each)])];

  /** How many more may be claimed beside the attempts under way. */
  const left = (underWay: readonly ClaimedDelivery[]) => ({
    limit: total - underWay.length,
    limitPerReceiver: perReceiver,
    receiverLimits: remaining(underWay.flatMap(receiversOf), perReceiver, breaker.limits()),
    limitPerMerchant: perMerchant,
    merchantLimits: remaining(underWay.map(merchantOf), perMerchant),
  });

  return {
    left,
    /** The name by which the breaker knows the receiver of this delivery. */
    pausedAs,

    /** To be called after a claim, with the attempts that are then under way. */
    take(underWay: readonly ClaimedDelivery[]): void {
      taken = underWay;
    },

    /** Whether the last claim may have left a delivery for lack of a slot, which the end of this attempt frees. */
    lackedFor(ended: ClaimedDelivery): boolean {
      const { limit, receiverLimits, merchantLimits } = left(taken);
      const limits = receiversOf(ended).map((name) => receiverLimits.get(name));
      return [limit, ...limits, merchantLimits.get(merchantOf(ended))].includes(0);
    },
  };
}

const merchantOf = ({ merchantCode }: ClaimedDelivery) => merchantCode;

/** How many more each receiver or merchant may have besides the attempts under way; `limits` has some already. */
function remaining(names: readonly string[], usual: number, limits = new Map<string, number>()) {
  for (const name of names) limits.set(name, Math.max(0, (limits.get(name) ?? usual) - 1));
  return limits;
}
