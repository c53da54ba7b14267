/** Records payouts and remittances from files; the charges of a payout are found in the books. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { createExecute } from '../commands/execute.ts';
import { settlementDecider } from '../commands/settlement.ts';
import { type Sen, signedSen } from '../common/money.ts';
import type { Cause } from '../events/envelope.ts';
import {
  type SettlementKind,
  type SettlementPart,
  settlementIdOf,
  settlementStream,
} from '../events/settlement.ts';
import { accountSums, journalGap, merchantsWithAccount } from '../projections/journal/queries.ts';
import {
  findCharges,
  findPaidOut,
  findTwin,
  firstMoney,
  givenName,
} from '../projections/journal/settlements.ts';
import type { BadRow } from './csv-rows.ts';
import { UnreadableExport } from './export-format.ts';
import { ReadModelBehind } from './reconcile.ts';
import { recogniseSettlement, type SettlementRow } from './settlement-file.ts';
import { stageExport } from './stage-export.ts';

type Dependencies = {
  eventStore: Pick<EventStore, 'append' | 'load' | 'firstAfter'>;
  db: Knex;
  runtime: Runtime;
};

type SettlementImport = {
  file: AsyncIterable<Uint8Array>;
  isConfirmed: boolean;
  cause: Cause;
  /** Also called for each charge that the books do not have, or another payout has already. */
  onBadRow: (row: BadRow) => void;
};

const maxRows = 100_000;

/**
 * Records all of a file in one event, or nothing; the same file again changes nothing. Staff must confirm what is in doubt:
 * content/docs/settlement.md. Throws Refused, UnreadableExport, ReadModelBehind, and the stores' errors.
 */
export async function importSettlement(
  dependencies: Dependencies,
  { cause, file, isConfirmed, onBadRow }: SettlementImport,
) {
  const { db, eventStore, runtime } = dependencies;
  const now = runtime.now();
  const gap = await journalGap(now, dependencies);
  if (gap && !gap.isParked) throw new ReadModelBehind(gap.message);
  const { sha256, rows, ...given } = await readFile(dependencies, file, onBadRow);
  const id = settlementIdOf(given.kind, given.reference);
  const settled = await settledRows(db, id, rows);
  const parts = partsOf(settled);
  const doubts = await findDoubts(db, { id, ...given, settled, parts, asOf: now, onBadRow });
  const charges = settled.map(({ charge }) => charge).join('');
  const settlement = {
    ...given,
    at: now.toISOString(),
    parts,
    ...(charges && { charges }),
    file: { sha256, lines: rows.length },
  };
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const command = { type: 'RecordSettlement', settlement, doubts, isConfirmed } as const;
  const { events } = await execute(settlementStream(id), command, cause);
  return { id, ...given, rows: rows.length, isNew: events.length > 0 };
}

type SettledRow = SettlementRow & {
  openedOn: string | null;
  /** Its name; `''` of a sum. */
  charge: string;
  isMissing: boolean;
};

/** A charge that the books do not have is without a day, in the account that its row names. */
async function settledRows(db: Knex, id: string, rows: readonly SettlementRow[]): Promise<SettledRow[]> {
  const named = rows.filter((row) => givenName(row));
  const booked = await findCharges(db, id, named);
  return rows.map((row) => {
    const charge = givenName(row);
    const isMissing = charge !== '' && !booked.has(row.line);
    return { ...row, openedOn: null, charge, isMissing, ...booked.get(row.line) };
  });
}

/** Why staff must confirm it; names the lines of charges that are in doubt. */
async function findDoubts(
  db: Knex,
  {
    asOf,
    onBadRow,
    parts,
    settled,
    ...given
  }: {
    id: string;
    kind: SettlementKind;
    settledOn: string;
    totalSen: Sen;
    settled: readonly SettledRow[];
    parts: readonly SettlementPart[];
    asOf: Date;
    onBadRow: (row: BadRow) => void;
  },
): Promise<string[]> {
  const missing = settled.filter(({ isMissing }) => isMissing);
  for (const { line } of missing) onBadRow({ line, fault: 'names a charge that is not in the books' });
  const repeated = await findPaidOut(db, given.id, settled);
  for (const [line, reference] of repeated)
    onBadRow({ line, fault: `names a charge that is already in ${reference}` });
  const others = [...new Set(repeated.values())].join(', ');
  const twin = await findTwin(db, given);
  const known = settled.filter(({ isMissing }) => !isMissing);
  return [
    ...(missing.length > 0 ? [`${missing.length} of its charges are not in the books with this amount`] : []),
    ...(others ? [`${repeated.size} of its charges are already in ${others}`] : []),
    ...(twin ? [`${twin} of the same day has the same total`] : []),
    ...(await findOverpaid(db, given.kind, known, asOf)),
    ...(await findTooEarly(db, given.settledOn, parts)),
  ];
}

/** Says who would settle more than they owe, or be handed on more than they are owed; nothing if nobody would. */
async function findOverpaid(
  db: Knex,
  kind: SettlementKind,
  rows: readonly SettlementRow[],
  asOf: Date,
): Promise<string[]> {
  const sums = new Map<string, bigint>();
  for (const { account, amountSen } of rows) sums.set(account, (sums.get(account) ?? 0n) + BigInt(amountSen));
  const less: [account: string, amount: string][] = [];
  for (const [account, sumSen] of sums) {
    const { creditSen, debitSen } = await accountSums(db, account, asOf);
    const openSen = kind === 'payout' ? debitSen - creditSen : creditSen - debitSen;
    if (sumSen > openSen) less.push([account, signedSen(openSen)]);
  }
  if (less.length <= 1)
    return less.map(([account, amount]) =>
      kind === 'payout' ? `${account} owes less, RM ${amount}` : `${account} is owed less, RM ${amount}`,
    );
  const accounts = less.map(([account, amount]) => `${account} (RM ${amount})`).join(', ');
  return [kind === 'payout' ? `${accounts} owe less` : `${accounts} are owed less`];
}

/** Whether it is dated before its first charge was recorded; for sums, before the first money of their accounts. */
async function findTooEarly(
  db: Knex,
  settledOn: string,
  parts: readonly SettlementPart[],
): Promise<string[]> {
  const clearing = parts.filter(({ account }) => !account.startsWith('fees:'));
  const undated = clearing.filter(({ openedOn }) => openedOn === null).map(({ account }) => account);
  const firstOfSums = undated.length > 0 ? await firstMoney(db, undated) : null;
  const [first] = [firstOfSums, ...clearing.map(({ openedOn }) => openedOn)]
    .filter((day) => day !== null)
    .toSorted();
  return first && settledOn < first ? [`it is dated before the first of its money came, on ${first}`] : [];
}

async function readFile(
  { db, runtime }: Dependencies,
  file: AsyncIterable<Uint8Array>,
  onBadRow: (row: BadRow) => void,
) {
  const merchants = await merchantsWithAccount(db);
  const rows: SettlementRow[] = [];
  const staged = { add: (more: readonly SettlementRow[]) => void rows.push(...more) };
  const recognise = (header: readonly string[]) => recogniseSettlement(header, merchants);
  const { badRows, format, sha256 } = await stageExport(file, { staged, runtime, recognise, onBadRow });
  const head = format.head();
  if (rows.length > maxRows) throw new UnreadableExport(`The file has more than ${maxRows} rows`);
  if (badRows > 0) throw new UnreadableExport(`Nothing was imported; rows with faults: ${badRows}`);
  if (!head) throw new UnreadableExport('The file has no rows');
  return { ...head, kind: format.kind, rows, sha256 };
}

/** Sums by account and day. */
function partsOf(rows: readonly SettledRow[]): SettlementPart[] {
  const parts = new Map<string, SettlementPart>();
  const add = (account: string, openedOn: string | null, sen: Sen) => {
    const key = `${account} ${openedOn}`;
    const amountSen = ((parts.get(key)?.amountSen ?? 0) + sen) as Sen;
    if (!Number.isSafeInteger(amountSen)) throw new UnreadableExport('The sum of the file is too large');
    if (sen > 0) parts.set(key, { account, openedOn, amountSen });
  };
  for (const { account, amountSen, feeSen, openedOn } of rows) {
    add(account, openedOn, amountSen);
    add(account.replace('gateway:', 'fees:'), null, feeSen);
  }
  return [...parts.values()];
}
