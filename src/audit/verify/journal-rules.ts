/** Rules of the books: debits equal credits, and no two payments share a number without an explanation. */
import { journalBalance } from '../../projections/journal/queries.ts';
import { openSharedNumbers } from '../../projections/journal/shared-number-queries.ts';
import type { DerivedCheck } from './verification.ts';

export const verifyJournal: DerivedCheck = async ({ db, report: { violations } }) => {
  const { debitSen, creditSen, unbalanced } = await journalBalance(db);
  if (unbalanced > 0)
    violations.add('the journal', 'The journal has entries whose debits are not their credits', unbalanced);
  else if (debitSen !== creditSen)
    violations.add('the journal', `All debits are ${debitSen} sen, all credits ${creditSen}`);
  const { count, first } = await openSharedNumbers(db);
  if (first) {
    const what = first.kind === 'sharedReceiptNo' ? 'receipt number' : 'gateway transaction';
    const payments = `Payments ${first.firstTransactionId} and ${first.transactionId}`;
    violations.add('shared numbers', `${payments} have the same ${what}, and nobody has explained it`, count);
  }
  return [{ what: 'sen of debits against as many of credits', count: Number(debitSen) }];
};
