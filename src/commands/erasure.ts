/** The decision that a payment's personal data have been erased. What destroys their keys: src/personal-data/erase.ts. */
import { type ErasureReason, isHolding } from '@ledger/personal-data/sealed.ts';
import type { PaymentEvent, RequestedPayment } from '../events/payment.ts';
import { Refused } from './decider.ts';

export type ErasePersonalData = {
  type: 'ErasePersonalData';
  at: string;
  reason: ErasureReason;
  destroyed: readonly string[];
};

/** Refused when an event has added personal data since the keys were destroyed: destroy those too, and ask again. */
export function erasePersonalData(
  { at, reason, destroyed }: ErasePersonalData,
  state: RequestedPayment,
): readonly PaymentEvent[] | Refused {
  const { keys } = state.personalData;
  if (!isHolding(state.personalData)) return [];
  if (keys.some((key) => !destroyed.includes(key)))
    return new Refused('personal_data_added', 'Personal data were added while others were erased');
  return [{ type: 'PersonalDataErased', data: { at, reason, keys: [...keys] } }];
}
