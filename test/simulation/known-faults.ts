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

const isStoreTrouble = hasFault('kill-event-store', 'freeze-leader', 'cut', 'disk-full', 'postgres-crash');

/** The first that fits explains a violation. */
export const knownFaults: readonly KnownFault[] = [
  {
    name: 'older-log',
    what: 'An event store restored from an older copy under newer rows goes unnoticed: new payments get no rows',
    invariants: [
      'rows-differ',
      'health-lies',
      'delivery-stuck',
      'projection-behind',
      'program-fault',
      'callback-late',
      'charge-unknown',
    ],
    needs: hasFault('restore'),
  },
  {
    name: 'unreadable-event',
    what: 'One event that nobody can read stops the projections, and with them every callback',
    invariants: ['program-fault', 'delivery-stuck', 'projection-behind', 'rows-differ', 'charge-unknown'],
    needs: hasFault('unreadable'),
  },
  {
    name: 'leader-without-log',
    what: 'A process that cannot reach the event store keeps the lead, while another stands by',
    invariants: ['delivery-stuck', 'projection-behind', 'rows-differ', 'callback-late'],
    needs: hasFault('deaf-leader'),
  },
  {
    name: 'clocks-delay-callbacks',
    what: 'A callback becomes due by one machine’s clock and is claimed by another’s',
    invariants: ['callback-late', 'delivery-stuck'],
    needs: hasFault('clock'),
  },
  {
    name: 'clocks-steal-leases',
    what: 'A machine whose clock is fast takes over leases that others still hold',
    invariants: ['callback-doubled', 'callback-overtaken'],
    needs: hasFault('clock'),
  },
  {
    name: 'clocks-refuse-requests',
    what: 'A process whose clock is slow by seconds answers 503, as the deadlines of its appends have passed',
    invariants: ['slow-answer'],
    needs: hasFault('clock'),
  },
  {
    name: 'wrong-key',
    what: 'A process with another TRANSACTION_ID_KEY makes a second payment of the same reference',
    invariants: ['two-payments', 'charge-unknown', 'false-not-found', 'signed-result-refused'],
    needs: ({ wrongKey }) => wrongKey !== null,
  },
  {
    name: 'stale-reads',
    what: 'A leader that comes back from a freeze serves its old state, and something is decided on it',
    invariants: ['false-not-found', 'acknowledged-lost'],
    needs: ({ eventStores, faults }) =>
      eventStores > 1 && faults.some(({ kind }) => kind === 'freeze-leader' || kind === 'kill-event-store'),
  },
  {
    name: 'slow-refusal',
    what: 'While a store is away, a request waits for more than 10 s for its answer',
    invariants: ['slow-answer'],
    needs: (plan) => isStoreTrouble(plan) || hasFault('slow', 'crash', 'pause')(plan),
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
