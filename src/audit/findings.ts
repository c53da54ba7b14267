/** What `ledger verify` found: of each kind of fault how many, and the first. */

/** What is at fault, in the order of a report. */
export const faultKinds = {
  log: 'the log',
  gap: 'missing events',
  order: 'events in the wrong place',
  changed: 'changed events',
  chain: 'broken chains',
  unreadable: 'unreadable events',
  seal: 'seals',
  sealKey: 'keys of seals',
  sealChain: 'the chain of seals',
  sealedLog: 'what was sealed',
  unsealed: 'sealing',
  rows: 'rows of the read models',
  fold: 'projections',
  journal: 'the journal',
  receipt: 'receipts',
  callbackOrder: 'the order of callbacks',
  overdue: 'overdue deliveries',
} as const;

export type FaultKind = keyof typeof faultKinds;

export type Fault = {
  kind: FaultKind;
  /** How many there are. */
  count: number;
  /** A sentence that names the first, without values of the event or row. */
  first: string;
};

export type Findings = {
  /** `first` is not looked at unless it is the first of its kind; `count` where one sentence is about several. */
  add(kind: FaultKind, first: string, count?: number): void;
  /** In the order of `faultKinds`. */
  all(): Fault[];
};

export function createFindings(): Findings {
  const found = new Map<FaultKind, Fault>();
  return {
    add(kind, first, count = 1) {
      const fault = found.get(kind);
      if (fault) fault.count += count;
      else found.set(kind, { kind, count, first });
    },
    all() {
      return (Object.keys(faultKinds) as FaultKind[]).flatMap((kind) => found.get(kind) ?? []);
    },
  };
}
