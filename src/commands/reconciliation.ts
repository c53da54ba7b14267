/** Decisions about a discrepancy between the ledger and an export. The events are in src/events/reconciliation.ts. */
import { derivedId } from '@ledger/kernel/derived-id.ts';
import {
  type Discrepancy,
  type DiscrepancyFound,
  type ReconciliationEvent,
  reconciliationFold,
} from '../events/reconciliation.ts';
import { type Decider, type Decision, Refused } from './decider.ts';

export type ReportDiscrepancy = { type: 'ReportDiscrepancy'; discrepancy: DiscrepancyFound };
/** An import included the record and did not show the discrepancy; `asOf` is the moment of its export. */
export type ClearDiscrepancy = { type: 'ClearDiscrepancy'; at: string; asOf: string };
export type ResolveDiscrepancy = {
  type: 'ResolveDiscrepancy';
  at: string;
  note: string;
};

export type ReconciliationCommand = ReportDiscrepancy | ClearDiscrepancy | ResolveDiscrepancy;

/** Derived from what differs and how, not from file or time, so the same discrepancy in any file has one stream. */
export function discrepancyIdOf(key: string, discrepancy: Omit<DiscrepancyFound, 'at' | 'file'>): string {
  const { kind, source, transactionId, recordId, gatewayTransactionId, resultNo, ours, theirs } = discrepancy;
  const sides = [ours, theirs].flatMap((side) =>
    side ? [side.status, String(side.amountSen), side.currency] : [''],
  );
  const record = [transactionId, recordId, gatewayTransactionId, String(resultNo)];
  return derivedId(key, ['reconciliation', kind, source, ...record, ...sides]);
}

export const reconciliationDecider: Decider<Discrepancy | null, ReconciliationCommand, ReconciliationEvent> =
  {
    ...reconciliationFold,
    decide(command, state) {
      switch (command.type) {
        case 'ReportDiscrepancy':
          return report(command, state);
        case 'ClearDiscrepancy':
          return clear(command, state);
        case 'ResolveDiscrepancy':
          return resolve(command, state);
      }
    },
  };

/**
 * A discrepancy that is found again stays resolved if staff explained it. If it was cleared, it is open again, unless
 * this export is older than the one that cleared it. If it is open, it is recorded again if this export is newer, so
 * that no export in between clears it.
 */
function report(
  { discrepancy }: ReportDiscrepancy,
  state: Discrepancy | null,
): readonly ReconciliationEvent[] {
  const asOf = discrepancy.asOf ?? '';
  const isKnown =
    state !== null &&
    (state.resolved
      ? state.resolved.resolution === 'explained' || asOf < (state.resolved.asOf ?? '')
      : asOf <= shownAsOf(state));
  if (isKnown) return [];
  return [{ type: 'ReconciliationDifferenceFound', data: discrepancy }];
}

/** The moment at which an export showed it. An export of version 1 is no newer than its import. */
export function shownAsOf({ asOf, at }: Pick<DiscrepancyFound, 'asOf' | 'at'>): string {
  return asOf ?? at;
}

/** An older export does not clear what a newer one showed. */
function clear({ at, asOf }: ClearDiscrepancy, state: Discrepancy | null): Decision<ReconciliationEvent> {
  if (!state) return unknown();
  if (state.resolved || asOf < shownAsOf(state)) return [];
  const data = { at, resolution: 'vanished', note: '', asOf } as const;
  return [{ type: 'ReconciliationDifferenceResolved', data }];
}

function resolve({ at, note }: ResolveDiscrepancy, state: Discrepancy | null): Decision<ReconciliationEvent> {
  if (!state) return unknown();
  const { resolved } = state;
  if (resolved?.resolution === 'explained' && resolved.note === note) return [];
  if (resolved) return new Refused('exception_resolved', 'This discrepancy is already resolved');
  const data = { at, resolution: 'explained', note, asOf: null } as const;
  return [{ type: 'ReconciliationDifferenceResolved', data }];
}

function unknown(): Refused {
  return new Refused('unknown_exception', 'There is no such discrepancy');
}
