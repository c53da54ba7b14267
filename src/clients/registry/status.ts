/** The transaction registry's statuses read in the ledger's own terms. */
import type { RegistryStatus } from '../../events/payment-result.ts';

/** The registry's numbers are its own: 1 is success on both wires, 2 and 0 are not what they are on the gateway's. */
const statuses: Readonly<Record<string, RegistryStatus>> = {
  '0': 'attempted',
  '1': 'succeeded',
  '2': 'failed',
  '3': 'pending',
  '99': 'not_found',
};

/** Null where the text is no status that we know: nobody guesses. */
export function readRegistryStatus(epsStatus: string): RegistryStatus | null {
  return (Object.hasOwn(statuses, epsStatus) ? statuses[epsStatus] : null) ?? null;
}
