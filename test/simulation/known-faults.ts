/**
 * Faults that the simulator finds in the present program and that are still to be mended. A violation that one of them
 * explains is counted and does not fail a run. Whoever mends a fault removes it here; its plan in known-faults/ then
 * shows that the fault is gone.
 */
import type { FaultKind, Plan } from './plan.ts';
import type { Invariant, Violation } from './violations.ts';

export type KnownFault = {
  name: string;
  /** What is wrong, in one line. */
  what: string;
  invariants: readonly Invariant[];
  /** Whether the plan has what it takes; any plan if it is not given. */
  needs?: (plan: Plan) => boolean;
  /** Narrows it to violations whose text says so. */
  says?: RegExp;
};

const hasFault =
  (...kinds: readonly FaultKind[]) =>
  ({ faults }: Plan): boolean =>
    faults.some(({ kind }) => kinds.includes(kind));

/** The first that fits explains a violation. */
export const knownFaults: readonly KnownFault[] = [
  {
    name: 'older-log',
    what: 'After an event store was restored from an older copy, projections stop and say so until staff rebuild',
    invariants: [
      'rows-differ',
      'delivery-stuck',
      'projection-behind',
      'program-fault',
      'callback-late',
      'charge-unknown',
      'attempt-untold',
      'expiry-forgotten',
      // A row of the log that was lost may have the revision at which a stream is again. What is chosen is decided on the stream.
      'page-denies-charge',
    ],
    needs: hasFault('restore'),
  },
];

/** The known fault that explains a violation; null for something new. */
export function explain(violation: Violation, plan: Plan): KnownFault | null {
  return (
    knownFaults.find(
      ({ invariants, needs, says }) =>
        invariants.includes(violation.invariant) &&
        (needs?.(plan) ?? true) &&
        (says?.test(violation.text) ?? true),
    ) ?? null
  );
}
