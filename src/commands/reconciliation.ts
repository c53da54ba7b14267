/** Decisions about a discrepancy between the ledger and an export. The events are in src/events/reconciliation.ts. */
import { readReconciliationEvent } from '../events/codec.ts';
import {
  type Discrepancy,
  type DiscrepancyFound,
  evolveDiscrepancy,
  type ReconciliationEvent,
} from '../events/reconciliation.ts';
import { derivedId } from '../kernel/derived-id.ts';
import { type Decider, Refused } from './decider.ts';

/** An import found it. */
export type ReportDiscrepancy = { type: 'ReportDiscrepancy'; discrepancy: DiscrepancyFound };
/** A later import included the record and no longer showed the discrepancy. */
export type ClearDiscrepancy = { type: 'ClearDiscrepancy'; at: string };
/** Staff have explained it. */
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
    initial: null,
    read: readReconciliationEvent,
    evolve: evolveDiscrepancy,
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

/** Found again, a discrepancy that staff explained stays resolved; one that was cleared is open again. */
function report(
  { discrepancy }: ReportDiscrepancy,
  state: Discrepancy | null,
): readonly ReconciliationEvent[] {
  if (state && state.resolved?.resolution !== 'vanished') return [];
  return [{ type: 'ReconciliationDifferenceFound', data: discrepancy }];
}

function clear(
  { at }: ClearDiscrepancy,
  state: Discrepancy | null,
): readonly ReconciliationEvent[] | Refused {
  if (!state) return unknown();
  if (state.resolved) return [];
  return [{ type: 'ReconciliationDifferenceResolved', data: { at, resolution: 'vanished', note: '' } }];
}

function resolve(
  { at, note }: ResolveDiscrepancy,
  state: Discrepancy | null,
): readonly ReconciliationEvent[] | Refused {
  if (!state) return unknown();
  const { resolved } = state;
  if (resolved?.resolution === 'explained' && resolved.note === note) return [];
  if (resolved) return new Refused('exception_resolved', 'This discrepancy is already resolved');
  return [{ type: 'ReconciliationDifferenceResolved', data: { at, resolution: 'explained', note } }];
}

function unknown(): Refused {
  return new Refused('unknown_exception', 'There is no such discrepancy');
}
