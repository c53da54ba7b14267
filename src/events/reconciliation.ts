/**
 * Discrepancies between the ledger and an export of the gateway or the registry, a stream each: their events and the
 * fold. They hold no personal data. Decisions: src/commands/reconciliation.ts.
 */
import { type EventOf, utc } from '@ledger/kernel/structs.ts';
import { enums, type Infer, integer, min, nullable, object, string } from 'superstruct';
import { sen } from '../common/money.ts';
import { type Fold, readerOf } from './codec.ts';
import { outcomes, registryStatuses } from './payment-result.ts';

export const exportSources = ['registry', 'gateway'] as const;
export type ExportSource = (typeof exportSources)[number];

/**
 * Missing here: the export has a payment, or a second charge of one, that the ledger does not have. Missing there: the
 * ledger has money for a payment, and the export has no record of it.
 */
export const discrepancyKinds = ['missingHere', 'missingThere', 'amountDiffers', 'statusDiffers'] as const;

/** The statuses of exported records: those of the registry, and `cancelled`, which only the gateway has. */
export const theirStatuses = [...registryStatuses, 'cancelled'] as const;
export type TheirStatus = (typeof theirStatuses)[number];

/** The moment that the export shows; null in events of version 1, which did not say. */
const asOf = nullable(utc);

/** If none was given, the currency is `''` (which means MYR) and the amount null. */
const side = { amountSen: nullable(sen), currency: string() };

export const DiscrepancyFound = object({
  at: utc,
  kind: enums(discrepancyKinds),
  source: enums(exportSources),
  /** `''` where their record names none. */
  transactionId: string(),
  /** Their record's own id; `''` where there is none. */
  recordId: string(),
  gatewayTransactionId: string(),
  /** The number of the payment's recorded result that it is about, counted from 1. */
  resultNo: nullable(min(integer(), 1)),
  /** The merchant of the payment, else that of their record; `''` where neither has one. */
  merchantCode: string(),
  paidAt: nullable(utc),
  ours: nullable(object({ status: enums(['requested', ...outcomes]), ...side })),
  theirs: nullable(object({ status: enums(theirStatuses), ...side })),
  /** The digest identifies the export that shows it; `line` is null where the export has no record. */
  file: object({ sha256: string(), line: nullable(min(integer(), 1)) }),
  asOf,
});
export type DiscrepancyFound = Infer<typeof DiscrepancyFound>;

/** Vanished: a later import no longer showed it, so it is cleared. Explained: staff gave the reason in a note. */
const discrepancyResolutions = ['vanished', 'explained'] as const;
export type DiscrepancyResolution = (typeof discrepancyResolutions)[number];

export const reconciliationEvents = {
  ReconciliationDifferenceFound: DiscrepancyFound,
  ReconciliationDifferenceResolved: object({
    at: utc,
    resolution: enums(discrepancyResolutions),
    /** `''` when it was cleared. */
    note: string(),
    /** Null where staff explained it. */
    asOf,
  }),
};

export type ReconciliationEvent = EventOf<typeof reconciliationEvents>;
type Resolved = Infer<typeof reconciliationEvents.ReconciliationDifferenceResolved>;

/** `resolved` is null while it is open. */
export type Discrepancy = DiscrepancyFound & { resolved: Resolved | null };

export const reconciliationFold: Fold<Discrepancy | null, ReconciliationEvent> = {
  prefix: 'reconciliation-',
  initial: null,
  read: readerOf(reconciliationEvents),
  /** Finding it again opens it again; one that is open keeps the time at which it was first found. */
  evolve(state, event) {
    if (event.type !== 'ReconciliationDifferenceFound') return state && { ...state, resolved: event.data };
    const at = state && !state.resolved ? state.at : event.data.at;
    return { ...event.data, at, resolved: null };
  },
};
export const reconciliationStream = (id: string) => `${reconciliationFold.prefix}${id}`;
