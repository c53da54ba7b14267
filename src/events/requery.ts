/** The events of requeries, other than the results that the registry reported. */
import { utc } from '@ledger/kernel/structs.ts';
import { sealed } from '@ledger/personal-data/sealed.ts';
import { enums, type Infer, integer, min, object, string } from 'superstruct';
import { registryFaults, registryStatuses } from './payment-result.ts';
import { ReceivedFields } from './personal-data.ts';

/** Requeries with the same answer as the one before, the last of them at `at`. */
const RequeryRepeated = object({
  at: utc,
  status: enums([...registryStatuses, ...registryFaults]),
  count: min(integer(), 1),
});
export type CountedAnswers = Infer<typeof RequeryRepeated>;

export const requeryEvents = {
  /** The registry was asked and reported nothing new: the status stays. */
  RequeryAnswered: object({
    at: utc,
    status: enums(registryStatuses),
    /** Its record with this status, as received. */
    evidence: sealed(ReceivedFields),
  }),
  RequeryUnanswered: object({ at: utc, reason: enums(registryFaults) }),
  /** The registry was asked `count` more times, and it was the same each time. */
  RequeryRepeated,
  /** The registry is no longer asked about this seller order, whose outcome is not known; for staff. */
  AttemptOutcomeUnknown: object({ at: utc, orderNo: string() }),
};
