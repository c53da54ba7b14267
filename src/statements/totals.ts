/** The totals of a statement, summed from the receipts that it lists. */
import type { CollectedReceipt, MethodTotal } from '../projections/journal/collection-queries.ts';

/** Sorted by method name. */
export function totalsByMethod(receipts: readonly CollectedReceipt[]): MethodTotal[] {
  return Array.from(
    Map.groupBy(receipts, ({ method }) => method),
    ([method, group]) => ({
      method,
      receipts: group.length,
      amountSen: sumOf(group.map(({ amountSen }) => BigInt(amountSen))),
      chargeSen: sumOf(group.map(({ chargeSen }) => BigInt(chargeSen))),
    }),
  ).sort((a, b) => (a.method < b.method ? -1 : 1));
}

/** Over all methods. */
export function grandTotal(totals: readonly MethodTotal[]): Omit<MethodTotal, 'method'> {
  return {
    receipts: totals.reduce((sum, { receipts }) => sum + receipts, 0),
    amountSen: sumOf(totals.map(({ amountSen }) => amountSen)),
    chargeSen: sumOf(totals.map(({ chargeSen }) => chargeSen)),
  };
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
