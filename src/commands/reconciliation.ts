/** What may happen to a difference between the ledger and an export. The events are in src/events/reconciliation.ts. */
import {
  type Difference,
  type DifferenceFound,
  evolveDifference,
  type ReconciliationEvent,
} from '../events/reconciliation.ts';
import { derivedId } from '../kernel/derived-id.ts';
import { type Decider, Refused } from './decider.ts';

/** An import found it. */
export type ReportDifference = { type: 'ReportDifference'; difference: DifferenceFound };
/** An import had their record, and found no such difference any more. */
export type SettleDifference = { type: 'SettleDifference'; at: string };
/** Staff know why it is there. */
export type ResolveReconciliationDifference = {
  type: 'ResolveReconciliationDifference';
  at: string;
  note: string;
};

export type ReconciliationCommand = ReportDifference | SettleDifference | ResolveReconciliationDifference;

/**
 * Derived from what differs and how, not from the file or the moment: the same difference in any file has the same
 * stream.
 */
export function differenceIdOf(key: string, difference: Omit<DifferenceFound, 'at' | 'file'>): string {
  const { kind, source, transactionId, recordId, gatewayTransactionId, resultNo, ours, theirs } = difference;
  const sides = [ours, theirs].flatMap((side) =>
    side ? [side.status, String(side.amountSen), side.currency] : [''],
  );
  const record = [transactionId, recordId, gatewayTransactionId, String(resultNo)];
  return derivedId(key, ['reconciliation', kind, source, ...record, ...sides]);
}

export const reconciliationDecider: Decider<Difference | null, ReconciliationCommand, ReconciliationEvent> = {
  initial: null,
  evolve: evolveDifference,
  decide(command, state) {
    switch (command.type) {
      case 'ReportDifference':
        return report(command, state);
      case 'SettleDifference':
        return settle(command, state);
      case 'ResolveReconciliationDifference':
        return resolve(command, state);
    }
  },
};

/** What staff have explained stays so however often it is found; what had vanished is open again. */
function report({ difference }: ReportDifference, state: Difference | null): readonly ReconciliationEvent[] {
  if (state && state.resolved?.resolution !== 'vanished') return [];
  return [{ type: 'ReconciliationDifferenceFound', data: difference }];
}

function settle(
  { at }: SettleDifference,
  state: Difference | null,
): readonly ReconciliationEvent[] | Refused {
  if (!state) return unknown();
  if (state.resolved) return [];
  return [{ type: 'ReconciliationDifferenceResolved', data: { at, resolution: 'vanished', note: '' } }];
}

function resolve(
  { at, note }: ResolveReconciliationDifference,
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
