/** What may happen to a difference between the ledger and an export. The events are in src/events/reconciliation.ts. */
import { readReconciliationEvent } from '../events/codec.ts';
import {
  type Difference,
  type DiscrepancyFound,
  evolveDiscrepancy,
  type ReconciliationEvent,
} from '../events/reconciliation.ts';
import { derivedId } from '../kernel/derived-id.ts';
import { type Decider, Refused } from './decider.ts';

/** An import found it. */
export type ReportDiscrepancy = { type: 'ReportDiscrepancy'; difference: DiscrepancyFound };
/** An import had their record, and found no such difference any more. */
export type SettleDiscrepancy = { type: 'SettleDiscrepancy'; at: string };
/** Staff know why it is there. */
export type ResolveDiscrepancy = {
  type: 'ResolveDiscrepancy';
  at: string;
  note: string;
};

export type ReconciliationCommand = ReportDiscrepancy | SettleDiscrepancy | ResolveDiscrepancy;

/**
 * Derived from what differs and how, not from the file or the moment: the same difference in any file has the same
 * stream.
 */
export function discrepancyIdOf(key: string, difference: Omit<DiscrepancyFound, 'at' | 'file'>): string {
  const { kind, source, transactionId, recordId, gatewayTransactionId, resultNo, ours, theirs } = difference;
  const sides = [ours, theirs].flatMap((side) =>
    side ? [side.status, String(side.amountSen), side.currency] : [''],
  );
  const record = [transactionId, recordId, gatewayTransactionId, String(resultNo)];
  return derivedId(key, ['reconciliation', kind, source, ...record, ...sides]);
}

export const reconciliationDecider: Decider<Difference | null, ReconciliationCommand, ReconciliationEvent> = {
  initial: null,
  read: readReconciliationEvent,
  evolve: evolveDiscrepancy,
  decide(command, state) {
    switch (command.type) {
      case 'ReportDiscrepancy':
        return report(command, state);
      case 'SettleDiscrepancy':
        return settle(command, state);
      case 'ResolveDiscrepancy':
        return resolve(command, state);
    }
  },
};

/** What staff have explained stays so however often it is found; what had vanished is open again. */
function report({ difference }: ReportDiscrepancy, state: Difference | null): readonly ReconciliationEvent[] {
  if (state && state.resolved?.resolution !== 'vanished') return [];
  return [{ type: 'ReconciliationDifferenceFound', data: difference }];
}

function settle(
  { at }: SettleDiscrepancy,
  state: Difference | null,
): readonly ReconciliationEvent[] | Refused {
  if (!state) return unknown();
  if (state.resolved) return [];
  return [{ type: 'ReconciliationDifferenceResolved', data: { at, resolution: 'vanished', note: '' } }];
}

function resolve(
  { at, note }: ResolveDiscrepancy,
  state: Difference | null,
): readonly ReconciliationEvent[] | Refused {
  if (!state) return unknown();
  const { resolved } = state;
  if (resolved?.resolution === 'explained' && resolved.note === note) return [];
  if (resolved) return new Refused('exception_resolved', 'This difference is already resolved');
  return [{ type: 'ReconciliationDifferenceResolved', data: { at, resolution: 'explained', note } }];
}

function unknown(): Refused {
  return new Refused('unknown_exception', 'There is no such difference');
}
