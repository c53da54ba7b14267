/** Asks the transaction registry for somebody who waits for the answer, and records a failure to answer too. */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import { RegistryUnavailable } from '../../clients/transaction-registry/answer.ts';
import type { RegistryAnswer, RegistryFault } from '../../events/payment-result.ts';

/** Throws RegistryUnavailable, after `recordFault` if the event store takes it, and what that throws otherwise. */
export async function askRegistry(
  ask: () => Promise<RegistryAnswer>,
  recordFault: (fault: RegistryFault) => Promise<unknown>,
): Promise<RegistryAnswer> {
  return await ask().catch(async (error) => {
    if (!(error instanceof RegistryUnavailable)) throw error;
    await recordFault(error.fault).catch((failure) => {
      if (!(failure instanceof EventStoreUnavailable)) throw failure;
    });
    throw error;
  });
}
