/**
 * Differences between the ledger and what the gateway or the registry exported, a stream each: what can happen to one,
 * and the fold. No personal data is in them. What may happen is decided in src/commands/reconciliation.ts.
 */
import { enums, type Infer, integer, min, nullable, object, string } from 'superstruct';
import { type EventOf, sen, utc } from '../kernel/structs.ts';
import { outcomes, type registryStatuses } from './payment-result.ts';

export const exportSources = ['registry', 'gateway'] as const;
export type ExportSource = (typeof exportSources)[number];

/**
 * Missing here: the export has a record of a payment, or of another charge of it, that the ledger does not have. Missing
 * there: the ledger has money of a payment and the export no record of it.
 */
const differenceKinds = ['missingHere', 'missingThere', 'amountDiffers', 'statusDiffers'] as const;
export type DiscrepancyKind = (typeof differenceKinds)[number];

/** What a record of theirs can say: the gateway's outcomes, and the registry's statuses. */
export const theirStatuses = [
  'succeeded',
  'pending',
  'attempted',
  'failed',
  'cancelled',
  'not_found',
] as const satisfies readonly ((typeof outcomes)[number] | (typeof registryStatuses)[number])[];
export type TheirStatus = (typeof theirStatuses)[number];

/** `currency` is `''` where none was said, which is MYR; an amount is null where none was said. */
const side = { amountSen: nullable(sen), currency: string() };

export const DiscrepancyFound = object({
  at: utc,
  kind: enums(differenceKinds),
  source: enums(exportSources),
  /** `''` where their record names none. */
  transactionId: string(),
  /** What they call their record; `''` where they have none. */
  recordId: string(),
  gatewayTransactionId: string(),
  /** Of the result here that it is about: its place among the payment's recorded ones, counted from 1. */
  resultNo: nullable(min(integer(), 1)),
  /** Of the payment here, else as their record has it; `''` where neither says. */
  merchantCode: string(),
  paidAt: nullable(utc),
  ours: nullable(object({ status: enums(['requested', ...outcomes]), ...side })),
  theirs: nullable(object({ status: enums(theirStatuses), ...side })),
  /** The export that shows it: which file that was, its digest proves; `line` is null for what it does not hold. */
  file: object({ sha256: string(), line: nullable(min(integer(), 1)) }),
});
export type DiscrepancyFound = Infer<typeof DiscrepancyFound>;

/** Vanished: a later import of their record found no such difference. Explained: staff know why, and say so in the note. */
const differenceResolutions = ['vanished', 'explained'] as const;
export type DiscrepancyResolution = (typeof differenceResolutions)[number];

export const reconciliationEvents = {
  ReconciliationDifferenceFound: DiscrepancyFound,
  ReconciliationDifferenceResolved: object({
    at: utc,
    resolution: enums(differenceResolutions),
    /** `''` when it vanished. */
    note: string(),
  }),
};

export type ReconciliationEvent = EventOf<typeof reconciliationEvents>;
type Resolved = Infer<typeof reconciliationEvents.ReconciliationDifferenceResolved>;

export const reconciliationStreamPrefix = 'reconciliation-';
export const reconciliationStream = (id: string) => `${reconciliationStreamPrefix}${id}`;

/** `resolved` is null while it is open. */
export type Difference = DiscrepancyFound & { resolved: Resolved | null };

/** Null before the first event. Total: a resolution of nothing changes nothing. Found again, it is open again. */
export function evolveDiscrepancy(state: Difference | null, event: ReconciliationEvent): Difference | null {
  if (event.type === 'ReconciliationDifferenceFound') return { ...event.data, resolved: null };
  return state && { ...state, resolved: event.data };
}
