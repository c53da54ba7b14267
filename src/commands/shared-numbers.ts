/** How staff resolve a number that two payments share: src/events/shared-number.ts. */
import { type ExplainedNumber, type SharedNumberEvent, sharedNumberFold } from '../events/shared-number.ts';
import { type Decider, Refused } from './decider.ts';

export type ExplainSharedNumber = { type: 'ExplainSharedNumber'; at: string; note: string };

/** The caller has found the shared number in the journal. */
export const sharedNumberDecider: Decider<ExplainedNumber | null, ExplainSharedNumber, SharedNumberEvent> = {
  ...sharedNumberFold,
  decide({ at, note }, state) {
    if (state?.note === note) return [];
    if (state) return new Refused('exception_resolved', 'This shared number is already explained');
    return [{ type: 'SharedNumberExplained', data: { at, note } }];
  },
};
