/** What staff must confirm before a settlement is recorded: content/docs/settlement.md. */
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import type { Knex } from 'knex';
import { type Sen, signedSen } from '../common/money.ts';
import type { SettlementKind, SettlementPart } from '../events/settlement.ts';
import { accountSums } from '../projections/journal/queries.ts';
import { findPaidOut, findTwin, firstMoney } from '../projections/journal/settlements.ts';
import type { SettlementRow } from './settlement-file.ts';

export type SettledRow = SettlementRow & {
  openedOn: string | null;
  /** What `chargeNameOf` returns for a charge; `''` for a sum. */
  charge: string;
  isMissing: boolean;
};

type Settlement = {
  id: string;
  kind: SettlementKind;
  settledOn: string;
  totalSen: Sen;
  rows: readonly SettledRow[];
  parts: readonly SettlementPart[];
};

type Books = {
  db: Knex;
  asOf: Date;
  /** Called for each charge that is in doubt. */
  onBadRow: (row: BadRow) => void;
};

/** Resolves to a sentence, or to null if there is no doubt. */
type Rule = (settlement: Settlement, books: Books) => Promise<string | null>;

const rules: readonly Rule[] = [findMissing, findPaidOutBefore, findSameTotal, findOverpaid, findTooEarly];

export async function findDoubts(settlement: Settlement, books: Books): Promise<string[]> {
  const doubts: string[] = [];
  for (const rule of rules) {
    const doubt = await rule(settlement, books);
    if (doubt !== null) doubts.push(doubt);
  }
  return doubts;
}

async function findMissing({ rows }: Settlement, { onBadRow }: Books) {
  const missing = rows.filter(({ isMissing }) => isMissing);
  for (const { line } of missing) onBadRow({ line, fault: 'names a charge that is not in the books' });
  return missing.length > 0 ? `${missing.length} of its charges are not in the books with this amount` : null;
}

async function findPaidOutBefore({ id, rows }: Settlement, { db, onBadRow }: Books) {
  const paidOut = await findPaidOut(db, id, rows);
  for (const [line, reference] of paidOut)
    onBadRow({ line, fault: `names a charge that is already in ${reference}` });
  const references = [...new Set(paidOut.values())].join(', ');
  return references ? `${paidOut.size} of its charges are already in ${references}` : null;
}

async function findSameTotal(settlement: Settlement, { db }: Books) {
  const twin = await findTwin(db, settlement);
  return twin && `${twin} of the same day has the same total`;
}

/** Finds accounts from which more would be settled than they owe, or to which more would be remitted than is owed. */
async function findOverpaid({ kind, rows }: Settlement, { asOf, db }: Books) {
  const sums = new Map<string, bigint>();
  for (const { account, amountSen, isMissing } of rows)
    if (!isMissing) sums.set(account, (sums.get(account) ?? 0n) + BigInt(amountSen));
  const less: { account: string; amount: string }[] = [];
  for (const [account, sumSen] of sums) {
    const { creditSen, debitSen } = await accountSums(db, account, asOf);
    const openSen = kind === 'payout' ? debitSen - creditSen : creditSen - debitSen;
    if (sumSen > openSen) less.push({ account, amount: signedSen(openSen) });
  }
  const [only, ...others] = less;
  if (!only) return null;
  if (others.length === 0)
    return kind === 'payout'
      ? `${only.account} owes less, RM ${only.amount}`
      : `${only.account} is owed less, RM ${only.amount}`;
  const accounts = less.map(({ account, amount }) => `${account} (RM ${amount})`).join(', ');
  return kind === 'payout' ? `${accounts} owe less` : `${accounts} are owed less`;
}

/** Finds a date before its first charge was recorded; for sums, before the first money of their accounts. */
async function findTooEarly({ parts, settledOn }: Settlement, { db }: Books) {
  const clearing = parts.filter(({ account }) => !account.startsWith('fees:'));
  const undated = clearing.filter(({ openedOn }) => openedOn === null).map(({ account }) => account);
  const firstOfSums = undated.length > 0 ? await firstMoney(db, undated) : null;
  const [first] = [firstOfSums, ...clearing.map(({ openedOn }) => openedOn)]
    .filter((day) => day !== null)
    .toSorted();
  return first && settledOn < first ? `it is dated before its first money came in, on ${first}` : null;
}
