/** What `ledger verify` checked and what it found: of each kind of fault how many, and the first. */

/** What was held against what, and how many there were of it. */
export type Checked = { what: string; count: number };

/** How far it is with what it does just now. */
export type VerifyProgress = { step: string; done: number };

/** What is at fault, as a report has it. */
export type FaultKind =
  | 'the log'
  | 'missing events'
  | 'misplaced events'
  | 'changed events'
  | 'broken chains'
  | 'unreadable events'
  | 'seals'
  | 'keys of seals'
  | 'the chain of seals'
  | 'what was sealed'
  | 'unsealed events'
  | `rows of ${string}`
  | 'the journal'
  | 'receipts'
  | 'the order of callbacks'
  | 'overdue deliveries';

export type Fault = {
  kind: FaultKind;
  /** How many there are. */
  count: number;
  /** A sentence that names the first, without values of the event or row. */
  first: string;
};

export type Violations = {
  /** `count` where one sentence is about several. */
  add(kind: FaultKind, sentence: string, count?: number): void;
  /** In the order in which the kinds were first met. */
  all(): Fault[];
};

export function createViolations(): Violations {
  const found = new Map<FaultKind, Fault>();
  return {
    add(kind, sentence, count = 1) {
      const fault = found.get(kind);
      if (fault) fault.count += count;
      else found.set(kind, { kind, count, first: sentence });
    },
    all: () => [...found.values()],
  };
}
