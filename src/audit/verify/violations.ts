/** What `ledger verify` checked, and the violations it found: how many of each kind, and the first ten. */

/** Where in the log an event is, and how sentences name it. */
export type Place = { stream: string; revision: number };
export const placeText = ({ stream, revision }: Place) => `${stream} revision ${revision}`;

export type Checked = { what: string; count: number };

/** `share` is from 0 to 1, or null if it is not known. */
export type VerifyProgress = { step: string; done: number; share: number | null };

export type ViolationKind =
  | 'the log'
  | 'missing events'
  | 'misplaced events'
  | 'changed events'
  | 'broken chains'
  | 'unreadable events'
  | 'parked streams'
  | 'acknowledgements'
  | 'seals'
  | 'keys of seals'
  | 'the chain of seals'
  | 'what was sealed'
  | 'unsealed events'
  | 'witnesses'
  | `rows of ${string}`
  | 'the journal'
  | 'shared numbers'
  | 'receipts'
  | 'the order of callbacks'
  | 'overdue deliveries';

/** `first` is a sentence that names the first of them, without values of the event or row; `next` are up to nine more. */
export type Violation = { kind: ViolationKind; count: number; first: string; next?: string[] };

export type Violations = ReturnType<typeof createViolations>;

export function createViolations() {
  const found = new Map<ViolationKind, Violation>();
  return {
    /** `count` is for a sentence about several. */
    add(kind: ViolationKind, sentence: string, count = 1): void {
      const violation = found.get(kind);
      if (!violation) return void found.set(kind, { kind, count, first: sentence });
      violation.count += count;
      violation.next = [...(violation.next ?? []), sentence].slice(0, 9);
    },
    addAll(others: readonly Violation[]): void {
      for (const { kind, first, next = [], count } of others) {
        this.add(kind, first, count - next.length);
        for (const sentence of next) this.add(kind, sentence);
      }
    },
    /** In the order in which the kinds were first found. */
    all: (): Violation[] => Array.from(found.values(), (each) => ({ ...each })),
  };
}
