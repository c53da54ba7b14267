/** Records payouts and remittances from files; the charges of a payout are found in the books. */
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { Knex } from 'knex';
import { createExecute } from '../commands/execute.ts';
import { settlementDecider } from '../commands/settlement.ts';
import type { Sen } from '../common/money.ts';
import type { Cause } from '../events/envelope.ts';
import { type SettlementPart, settlementIdOf, settlementStream } from '../events/settlement.ts';
import { journalGap, merchantsWithAccount } from '../projections/journal/queries.ts';
import { findCharges, givenName } from '../projections/journal/settlements.ts';
import { UnreadableExport } from './export-format.ts';
import { ImportImpossible } from './reconcile.ts';
import { findDoubts, type SettledRow } from './settlement-doubts.ts';
import { recogniseSettlement, type SettlementRow } from './settlement-file.ts';
import { stageExport } from './stage-export.ts';

type Dependencies = Pick<Stores<'append' | 'load' | 'firstAfter'>, 'db' | 'eventStore' | 'runtime'>;

type SettlementImport = {
  file: AsyncIterable<Uint8Array>;
  isConfirmed: boolean;
  cause: Cause;
  /** Called for each bad row, and for each charge that is not in the books or is already in another payout. */
  onBadRow: (row: BadRow) => void;
};

const maxRows = 100_000;

/**
 * Records all of a file in one event, or nothing; the same file again changes nothing. Staff must confirm what is in doubt:
 * content/docs/settlement.md. Throws Refused, UnreadableExport, ImportImpossible, and the stores' errors.
 */
export async function importSettlement(
  dependencies: Dependencies,
  { cause, file, isConfirmed, onBadRow }: SettlementImport,
) {
  const { db, eventStore, runtime } = dependencies;
  const now = runtime.now();
  const gap = await journalGap(now, dependencies);
  if (gap && gap.kind !== 'parked') throw new ImportImpossible(gap.message);
  const { sha256, rows, ...given } = await readFile(dependencies, file, onBadRow);
  const id = settlementIdOf(given.kind, given.reference);
  const settled = await settledRows(db, id, rows);
  const parts = partsOf(settled);
  const doubts = await findDoubts({ id, ...given, rows: settled, parts }, { db, asOf: now, onBadRow });
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

/** A charge that is missing from the books has no day, and is in the account that its row names. */
async function settledRows(db: Knex, id: string, rows: readonly SettlementRow[]): Promise<SettledRow[]> {
  const booked = await findCharges(db, id, rows);
  return rows.map((row) => {
    const charge = givenName(row);
    const isMissing = charge !== '' && !booked.has(row.line);
    return { ...row, openedOn: null, charge, isMissing, ...booked.get(row.line) };
  });
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
