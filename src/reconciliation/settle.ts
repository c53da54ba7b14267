/** Records payouts and remittances from files; the charges of a payout are found in the books. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { createExecute } from '../commands/execute.ts';
import { settlementDecider } from '../commands/settlement.ts';
import { type Sen, signedSen } from '../common/money.ts';
import type { Cause } from '../events/envelope.ts';
import { type SettlementPart, settlementIdOf, settlementStream } from '../events/settlement.ts';
import { accountSums, journalGap, merchantsWithAccount } from '../projections/journal/queries.ts';
import { findCharges, findTwin } from '../projections/journal/settlements.ts';
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
  /** Also called for each charge that the books do not have. */
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
  const { parts, unknown } = await partsOf(db, rows);
  for (const { line } of unknown) onBadRow({ line, fault: 'names a charge that is not in the books' });
  const twin = await findTwin(db, { id, ...given });
  const doubts = [
    ...(unknown.length > 0 ? [`${unknown.length} of its charges are not in the books with this amount`] : []),
    ...(twin ? [`${twin} of the same day has the same total`] : []),
    ...(await findOverpaid(db, parts, now)),
  ];
  const settlement = { ...given, at: now.toISOString(), parts, file: { sha256, lines: rows.length } };
  const execute = createExecute({ eventStore, decider: settlementDecider });
  const command = { type: 'RecordSettlement', settlement, doubts, isConfirmed } as const;
  const { events } = await execute(settlementStream(id), command, cause);
  return { id, ...given, rows: rows.length, isNew: events.length > 0 };
}

/** Says which agencies would be handed on more than they are owed; nothing if none would. */
async function findOverpaid(db: Knex, parts: readonly SettlementPart[], asOf: Date): Promise<string[]> {
  const owed: [account: string, amount: string][] = [];
  for (const { account, amountSen } of parts) {
    if (!account.startsWith('merchant:')) continue;
    const { creditSen, debitSen } = await accountSums(db, account, asOf);
    const owedSen = creditSen - debitSen;
    if (BigInt(amountSen) > owedSen) owed.push([account, signedSen(owedSen)]);
  }
  if (owed.length <= 1) return owed.map(([account, amount]) => `${account} is owed less, RM ${amount}`);
  return [`${owed.map(([account, amount]) => `${account} (RM ${amount})`).join(', ')} are owed less`];
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

/** Sums by account and day. A charge that the books do not have is without a day, in the account that its row names. */
async function partsOf(db: Knex, rows: readonly SettlementRow[]) {
  const named = rows.filter((row) => row.gatewayTransactionId || row.transactionId);
  const charges = await findCharges(db, named);
  const parts = new Map<string, SettlementPart>();
  const add = (account: string, openedOn: string | null, sen: Sen) => {
    const key = `${account} ${openedOn}`;
    const amountSen = ((parts.get(key)?.amountSen ?? 0) + sen) as Sen;
    if (!Number.isSafeInteger(amountSen)) throw new UnreadableExport('The sum of the file is too large');
    if (sen > 0) parts.set(key, { account, openedOn, amountSen });
  };
  for (const row of rows) {
    const { account, openedOn } = charges.get(row.line) ?? { account: row.account, openedOn: null };
    add(account, openedOn, row.amountSen);
    add(account.replace('gateway:', 'fees:'), null, row.feeSen);
  }
  return { parts: [...parts.values()], unknown: named.filter(({ line }) => !charges.has(line)) };
}
