/**
 * What will happen in a simulation, made from its seed: the installation, the payments and the faults. It is plain data,
 * so that a failing plan can be made smaller part by part.
 */
import { withMidnight } from './calendar-plans.ts';
import { sendAgainKind } from './delivery-kinds.ts';
import { createRandom, type Random } from './engine/random.ts';
import { firstKinds, hour, type Kind, laterKinds, minute, ownKinds } from './fault-kinds.ts';
import { importsKind } from './import-kinds.ts';
import { meetingKinds } from './meeting-kinds.ts';
import { merchantKinds } from './merchant-kinds.ts';
import { momentKinds } from './moment-kinds.ts';
import { makePayment, withReports, withUnknown, withWithdrawals } from './payment-plans.ts';
import type { KeyName } from './program/keys.ts';
import { postgresRestoreKind, recoveryKind } from './restore-kinds.ts';
import { withRetention } from './retention-plans.ts';
import { withRotation } from './rotation-plans.ts';
import { withVerification } from './verification-plans.ts';

/** An event that only a newer program knows. */
export const unreadableType = 'PaymentForgotten';

export type PaymentMode = 'fpx' | 'fpx1' | 'cc' | 'wallet';

/** A message with which the gateway reports how an attempt ended. */
export type MessagePlan = {
  by: 'server' | 'browser';
  delayMs: number;
  fate: 'sent' | 'lost' | 'twice';
  form: 'form' | 'json' | 'numbers';
  omits: readonly ('mode' | 'order' | 'id')[];
};

/** What the gateway reports of an order besides its end. */
export type ReportPlan = {
  /** After the payer has arrived at the bank. */
  afterMs: number;
  /** The bank waits for somebody else to agree. Nothing ends what is pending in another transaction. */
  status: 'pending' | 'declined' | 'cancelled' | 'charged';
  /** It is about another transaction of the order than the one that ends it. */
  isOther: boolean;
  messages: readonly MessagePlan[];
};

export type AttemptPlan = {
  /** After the payment was requested. */
  afterMs: number;
  mode: PaymentMode;
  /** How long the payer looks at the page before choosing; not at all if it is not given. */
  hesitatesMs?: number;
  outcome: 'charged' | 'declined' | 'cancelled' | 'left';
  /** How long the payer stays at the bank. */
  bankMs: number;
  /** The bank takes more or less than the form says. */
  wrongBySen: number;
  messages: readonly MessagePlan[];
  reports?: readonly ReportPlan[];
  /** The bank takes the money back after this time. */
  reversedAfterMs: number | null;
  /** What the registry says of it for ever; what happened if it is not given. */
  registry?: 'missing' | 'attempted';
};

export type PaymentPlan = {
  number: number;
  atMs: number;
  merchant: number;
  amountSen: number;
  hasEmail: boolean;
  /** The merchant sends its request twice at once, perhaps to two processes. */
  isRepeated: boolean;
  /** When nobody may begin to pay any more, counted from the first request. The land registry can withdraw nothing. */
  withdrawal?: { by: 'merchant' | 'expiry'; afterMs: number };
  attempts: readonly AttemptPlan[];
};

/** Its answer breaks off in the middle, or is no JSON; or it knows of nothing, as a replica that has just begun. */
export type RegistryTrouble = 'fails' | 'hangs' | 'slow' | 'breaks' | 'garbled' | 'empty';

/** It answers with what looks like a signature. */
export type WitnessMood = 'well' | 'refuses' | 'hangs' | 'slow' | 'lies';

export type Fault = { atMs: number } & (
  | { kind: 'crash' | 'pause'; node: string; forMs: number }
  /** Once so many messages of it have reached a store or a receiver, of whose answers it hears none. */
  | {
      kind: 'crash-at';
      node: string;
      what: 'event store' | 'postgres' | 'receiver';
      nth: number;
      forMs: number;
    }
  | { kind: 'upgrade'; node: string }
  | { kind: 'cut'; from: string; to: string; bothWays: boolean; forMs: number }
  | { kind: 'slow'; node: string; delayMs: number; forMs: number }
  | { kind: 'clock'; node: string; offsetMs: number; drift: number; forMs: number }
  | { kind: 'postgres-crash' | 'postgres-read-only' | 'postgres-full'; forMs: number }
  | { kind: 'postgres-crowded'; isAfterCrash: boolean; forMs: number }
  | { kind: 'freeze-leader' | 'disk-full' | 'registry-outage'; forMs: number }
  | { kind: 'registry-trouble'; does: RegistryTrouble; forMs: number }
  | { kind: 'slow-disk'; store: 'event store' | 'postgres'; delayMs: number; forMs: number }
  | { kind: 'witness'; number: number; does: WitnessMood; forMs: number }
  | { kind: 'late-results' | 'erase-sending'; forMs: number }
  | { kind: 'database-clock'; offsetMs: number; forMs: number }
  | { kind: 'postgres-failover'; lagMs: number; forMs: number }
  | { kind: 'postgres-restore'; ageMs: number; forMs: number }
  | { kind: 'kill-event-store'; number: number; forMs: number }
  | { kind: 'torn-append'; isStored: boolean; forMs: number }
  | { kind: 'receiver'; merchant: number; does: 'refuses' | 'hangs' | 'slow'; forMs: number }
  | { kind: 'restore'; lastEvents: number }
  | { kind: 'recovery'; ageMs: number; forMs: number }
  | { kind: 'unreadable' }
  | { kind: 'deaf-leader' }
  | { kind: 'alternate-unmatched'; times: number }
  | { kind: 'shared-gateway-id' }
  | { kind: 'import'; ageMs: number }
  | { kind: 'rebuild'; projection: string }
  | { kind: 'stray-results'; count: number }
  | {
      kind: 'rotate';
      key: KeyName;
      /** Between two processes. */
      gapMs: number;
      draw: number;
      /** Whether the old key is dropped at once: it has leaked, or nobody has it. */
      isLost: boolean;
      /** Whether it is dropped in the end. */
      dropsOld: boolean;
    }
  | {
      kind: 'resolve' | 'verdicts' | 'settle' | 'imports' | 'erase' | 'quarantine' | 'notes' | 'send-again';
      draw: number;
    }
  | { kind: 'merchant-reads' | 'credentials' | 'clerks'; draw: number }
  /** From one process after the other, and back likewise. */
  | { kind: 'merchant-removed'; gapMs: number; forMs: number }
  | { kind: 'subject-access' }
);

export type FaultKind = Fault['kind'];

export type Plan = {
  seed: number;
  http: number;
  projections: number;
  reactors: number;
  eventStores: 1 | 3;
  /** Pauses of at least 200 ms are so many times longer while payments are made. */
  stretch: number;
  /** A process with another transaction key than the others. */
  wrongKey: string | null;
  /** How many days personal data are kept; for ever if it is not given. */
  retentionDays?: number;
  /** When everything is verified each day, counted from the start; never if it is not given. Whole minutes. */
  verifyAfterMs?: number;
  /** When the simulation begins, in UTC, if not at the usual time. */
  startsAt?: string;
  payments: readonly PaymentPlan[];
  faults: readonly Fault[];
  /** When all that can be healed is healed. */
  healAtMs: number;
  /** How long after that everything has to be settled. */
  calmMs: number;
};

/** Whether the log loses what people were told. */
export const losesLog = ({ faults }: Pick<Plan, 'faults'>): boolean =>
  faults.some(({ kind }) => kind === 'restore' || kind === 'recovery');

/** By how much the clock of PostgreSQL is ahead at most. */
export const databaseAheadMsIn = ({ faults }: Pick<Plan, 'faults'>): number =>
  Math.max(0, ...faults.map((it) => (it.kind === 'database-clock' ? it.offsetMs : 0)));

export type PlanOptions = {
  payments?: number;
  calmMs?: number;
  /** It happens for certain; otherwise the seed decides. */
  fault?: string | undefined;
};

/** Each drawn from a source of its own, so that one that is added changes no other. */
const separateKinds = [
  ...ownKinds,
  sendAgainKind,
  importsKind,
  postgresRestoreKind,
  recoveryKind,
  ...momentKinds,
  ...merchantKinds,
  ...meetingKinds,
];

/** What `--fault` takes. */
export const faultNames: readonly string[] = [
  ...[...firstKinds, ...laterKinds, ...separateKinds].map(({ kind }) => kind),
  ...['midnight', 'retention', 'rotate', 'transactions', 'verify', 'withdrawals', 'wrong-key'],
];

export function makePlan(seed: number, { payments: count = 100, calmMs, fault }: PlanOptions = {}): Plan {
  const random = createRandom(`plan ${seed}`);
  // Most seeds have as many payments in a fraction of the time: more of them meet, and meet the faults.
  const hurry = random.fork('hurry').pick([1, 4, 10, 10]);
  const activeMs = (random.integer(2, 5) * minute) / hurry;
  const topology = {
    http: random.integer(1, 3),
    projections: random.integer(1, 2),
    reactors: random.integer(1, 2),
    eventStores: random.chance(0.4) ? (3 as const) : (1 as const),
  };
  const names = (['http', 'projections', 'reactors'] as const).flatMap((role) =>
    Array.from({ length: topology[role] }, (_, index) => `${role}-${index + 1}`),
  );
  // Each seed has a few kinds of fault only: with all at once, some would hide others.
  const draw = (kinds: readonly Kind[], from: Random) =>
    kinds
      .filter(({ kind, share }) => from.chance(share) || kind === fault)
      .flatMap(({ make, most }) =>
        Array.from({ length: from.integer(1, most) }, () => make(from, names, activeMs)).flat(),
      );
  const drawn = [
    ...draw(firstKinds, random),
    ...draw(laterKinds, random.fork('later kinds')),
    ...separateKinds.flatMap((each) => draw([each], random.fork(each.kind))),
  ];
  // One older copy is enough.
  const others: readonly FaultKind[] = ['restore', 'postgres-restore', 'postgres-failover', 'upgrade'];
  const hasDrawn = (name: FaultKind) => drawn.some(({ kind }) => kind === name);
  const left = hasDrawn('recovery') ? drawn.filter(({ kind }) => !others.includes(kind)) : drawn;
  // When credentials end is told by that clock, and compared with the true one. The previous release has no lists.
  const judged = hasDrawn('database-clock') ? left.filter(({ kind }) => kind !== 'credentials') : left;
  const faults = fault === 'upgrade' ? judged.filter(({ kind }) => kind !== 'merchant-reads') : judged;
  const carelessness = random.pick([0, 0, 0.05, 0.2]);
  // Of what staff would see in one export and not in another.
  const reversals = faults.some(({ kind }) => kind === 'import' || kind === 'imports')
    ? 0.1
    : carelessness / 10;
  // Only a process that stands by can take over from one that cannot work.
  if (faults.some(({ kind }) => kind === 'deaf-leader')) topology.projections = 2;
  if (faults.some(({ kind }) => kind === 'send-again')) topology.reactors = 2;
  const hasWrongKey = fault === 'wrong-key' || random.chance(0.03);
  const freezes = faults.flatMap((each) => (each.kind === 'freeze-leader' ? [each] : []));
  // Only a node of several can be replaced while it is frozen, and only another process can know more than it.
  if (freezes.length > 0 && random.chance(0.8)) topology.eventStores = 3;
  if (hasWrongKey || freezes.length > 0) topology.http = Math.max(2, topology.http);
  const payments = Array.from({ length: count }, (_, number) => {
    const payment = makePayment(random, number, activeMs, { carelessness, reversals, hurry });
    // What such a node does not know must have happened while it was frozen.
    if (freezes.length === 0 || random.chance(0.5)) return payment;
    const { atMs, forMs } = random.pick(freezes);
    return { ...payment, atMs: atMs + random.integer(0, forMs) };
  });
  const withdrawals = random.fork('withdrawals');
  // Merchants withdraw nothing while the previous release runs: content/docs/upgrading.md.
  const hasWithdrawals = (withdrawals.chance(0.3) && fault !== 'upgrade') || fault === 'withdrawals';
  const asked = hasWithdrawals ? withWithdrawals(payments, withdrawals, hurry) : payments;
  const transactions = random.fork('transactions');
  const hasReports = transactions.chance(0.3) || fault === 'transactions';
  const rounds = faults.flatMap(({ atMs, kind }) => (kind === 'verdicts' && atMs > activeMs ? [atMs] : []));
  const plan = {
    seed,
    ...topology,
    stretch: random.pick([1, 3, 3, 10]),
    wrongKey: hasWrongKey ? 'http-2' : null,
    payments: withUnknown(
      hasReports ? withReports(asked, transactions, carelessness) : asked,
      rounds,
      random.fork('unknown outcomes'),
    ),
    faults: aimed(faults, payments, random).toSorted((a, b) => a.atMs - b.atMs),
    healAtMs: activeMs + 2 * minute,
    // Three hours are enough for every retry and for the first requeries; a day for the whole schedule of requeries.
    calmMs: Math.max(
      calmMs ?? (random.chance(0.1) ? 30 : 3) * hour,
      ...rounds.map((atMs) => atMs + 12 * hour),
    ),
  };
  if (hasDrawn('recovery')) return plan;
  const isRetention = fault === 'retention';
  const aged = withRetention(plan, random.fork('retention'), { names, activeMs, isAsked: isRetention });
  const verified = withVerification(aged, random.fork('verification'), {
    names,
    isAsked: fault === 'verify',
  });
  const late = withMidnight(verified, random.fork('midnight'), { activeMs, isAsked: fault === 'midnight' });
  return withRotation(late, random.fork('rotation'), { names, activeMs, isAsked: fault === 'rotate' });
}

/** Lets an older export show a charge that the bank has taken back by the time of the newer one. */
function aimed(faults: readonly Fault[], payments: readonly PaymentPlan[], random: Random): Fault[] {
  const charged = payments.flatMap(({ atMs, attempts }) =>
    attempts.flatMap(({ afterMs, bankMs, reversedAfterMs }) =>
      reversedAfterMs === null ? [] : [atMs + afterMs + bankMs + reversedAfterMs / 2],
    ),
  );
  return faults.map((fault) => {
    if (fault.kind !== 'import' || fault.ageMs === 0) return fault;
    const moments = charged.filter((atMs) => atMs < fault.atMs - minute);
    return moments.length > 0 ? { ...fault, ageMs: fault.atMs - random.pick(moments) } : fault;
  });
}
