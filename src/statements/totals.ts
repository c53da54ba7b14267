/** Sums of the receipts that a statement shows, so that its totals can be no others than those of its lines. */
import type { CollectedReceipt, MethodTotal } from '../projections/journal/collection-queries.ts';

/** In the order of the methods' names. */
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

/** Of all methods together. */
export function grandTotal(totals: readonly MethodTotal[]): Omit<MethodTotal, 'method'> {
  return {
    receipts: totals.reduce((sum, { receipts }) => sum + receipts, 0),
    amountSen: sumOf(totals.map(({ amountSen }) => amountSen)),
    chargeSen: sumOf(totals.map(({ chargeSen }) => chargeSen)),
  };
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
