/**
 * Queries on the journal. Sums are bigint sen, because they may exceed the safe integers. What was recorded after
 * `asOf` is left out, so that an answer can be repeated.
 */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { type Listed, readPage } from '@ledger/postgres/listing.ts';
import { indexable, within } from '@ledger/postgres/table.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { isReady, type LagSources, recordedUntil } from '@ledger/projections/runtime/lag.ts';
import type { Knex } from 'knex';
import lists from '../../../content/tables/lists.json' with { type: 'json' };
import { boundsOfDay, dayOf } from '../../common/malaysian-time.ts';
import { sqlOf } from '../../common/sql.ts';
import type { EntryKind } from '../../events/postings.ts';
import { journal } from './projection.ts';

export type AccountSums = { account: string; debitSen: bigint; creditSen: bigint };

export type StatementLine = {
  at: Date;
  transactionId: string;
  revision: number;
  line: number;
  kind: EntryKind;
  valueAt: Date;
  /** `''` for a settlement, whose id is in `transactionId`. */
  merchantCode: string;
  /** The merchant's reference of the payment, or that of the settlement. */
  reference: string;
  /** `''` while the payment is not paid. */
  receiptNo: string;
  debitSen: bigint;
  creditSen: bigint;
  /** Credits less debits of the account, this line's included. */
  balanceSen: bigint;
};

export type Period = { from: string; to: string };

const postings = `${journal.name}.postings`;
const dailySums = `${journal.name}.daily_sums`;
const books = `${journal.name}.books`;

/** The name under which the journal has a merchant's account. */
export const merchantAccount = (merchantCode: string) => indexable(`merchant:${merchantCode}`);

type Sums = { debit: string; credit: string };
const inSen = <Row extends Sums>({ debit, credit, ...row }: Row) => ({
  ...row,
  debitSen: BigInt(debit),
  creditSen: BigInt(credit),
});

/** All debits and credits there are, and the number of entries in which they differ; for `ledger verify`. */
export async function journalBalance(db: Knex) {
  const { rows } = await db.raw<{ rows: (Sums & { unbalanced: number })[] }>(sqlOf('journal-balance'));
  return inSen(rows[0] ?? { debit: '0', credit: '0', unbalanced: 0 });
}

/** The accounts whose sums of the day are not those of its postings. */
export async function differingSums(db: Knex, day: string): Promise<string[]> {
  const query = db.raw<{ rows: { account: string }[] }>(sqlOf('differing-sums'), {
    day,
    start: null,
    end: null,
    ...boundsOfDay(day),
  });
  return (await query.timeout(30_000)).rows.map(({ account }) => account);
}

/** The sums of one account; zero if nothing was posted to it by then. */
export async function accountSums(db: Knex, account: string, asOf: Date): Promise<AccountSums> {
  const [sums] = await trialBalance(db, asOf, indexable(account));
  return sums ?? { account, debitSen: 0n, creditSen: 0n };
}

/** The trial balance: every account with postings by then, by name, or only the given one. */
export async function trialBalance(
  db: Knex,
  asOf: Date,
  account: string | null = null,
): Promise<AccountSums[]> {
  const bindings = { ...upTo(asOf), account };
  const { rows } = await db.raw<{ rows: (Sums & { account: string })[] }>(sqlOf('trial-balance'), bindings);
  return rows.map(inSen);
}

/** The totals of all accounts, whose debits must equal their credits. */
export const totalsOf = (accounts: readonly AccountSums[]) => ({
  debitSen: accounts.reduce((sum, { debitSen }) => sum + debitSen, 0n),
  creditSen: accounts.reduce((sum, { creditSen }) => sum + creditSen, 0n),
});

/** For statements that take whole days from their sums, and of the last day the postings until then. */
export function upTo(asOf: Date) {
  const day = dayOf(asOf.toISOString());
  return { day, dayStart: boundsOfDay(day)?.start ?? asOf.toISOString(), asOf };
}

/**
 * The lines of an account recorded on the Malaysian days `from` to `to`, both included: at most `limit`, after `after`,
 * whose balance is added up from all lines before it unless it is given. All of it is from one snapshot.
 */
export async function accountStatement(
  db: Knex,
  asked: Period & { account: string; limit: number; after: { cursor: string; balanceSen?: bigint } | null },
) {
  const account = indexable(asked.account);
  const { from, to, after, limit } = asked;
  const start = boundsOfDay(from)?.start;
  const end = boundsOfDay(to)?.end;
  if (start === undefined || end === undefined) throw new RangeError('A period is named by two days');
  return await db.transaction(
    async (trx) => {
      const openingSen = await balanceOf(trx, beforeDay, [account, from]);
      const passedSen =
        after && after.balanceSen === undefined
          ? await balanceOf(trx, upToLine, [account, start, ...JSON.parse(after.cursor)])
          : 0n;
      const lines = trx.from(trx.raw(`${postings} posting join ${books} using (transaction_id)`));
      within(lines.where({ account }), 'at', { start, end });
      const page = { limit, after, sort: 'recorded' };
      const found = await readPage<FoundLine>(trx, lines, lists.accountLines, page);
      return {
        openingSen,
        lines: withBalances(found, after?.balanceSen ?? openingSen + passedSen),
        closingSen: await balanceOf(trx, beforeDay, [account, dayOf(end)]),
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

export type AccountStatement = Awaited<ReturnType<typeof accountStatement>>;

/** All pages of a statement (at least one), with one in memory at a time. */
export async function* accountPages(
  db: Knex,
  asked: Period & { account: string },
): AsyncGenerator<AccountStatement, void, void> {
  const limit = 5_000;
  let after: AccountStatement['lines'][number] | null = null;
  for (;;) {
    const page: AccountStatement = await accountStatement(db, { ...asked, after, limit });
    yield page;
    if (page.lines.length < limit) return;
    after = page.lines.at(-1) ?? null;
  }
}

const beforeDay = `${dailySums} where account = ? and day < ?`;
/** The line as the cursor of a page has it. */
const upToLine = `${postings} where account = ? and at >= ?
  and (at, transaction_id, revision, line) <= (?, ?, ?, ?)`;

async function balanceOf(trx: Knex, rowsWhere: string, bindings: readonly string[]): Promise<bigint> {
  const sum = 'select coalesce(sum(credit_sen - debit_sen), 0)::text as balance';
  const { rows } = await trx.raw(`${sum} from ${rowsWhere}`, bindings);
  return BigInt(rows[0].balance);
}

type FoundLine = Omit<StatementLine, 'debitSen' | 'creditSen' | 'balanceSen'> & Sums;

function withBalances(found: readonly Listed<FoundLine>[], before: bigint): Listed<StatementLine>[] {
  let balanceSen = before;
  return found.map(inSen).map((line) => {
    balanceSen += line.creditSen - line.debitSen;
    return { ...line, balanceSen };
  });
}

/** By then, a running projection has processed what was recorded before. */
const catchUpMs = 1_000;

/**
 * Why the journal's answers may be incomplete: `missing` if it has no tables to query, `parked` if it leaves out no more
 * than parked streams, which must not stop everybody else.
 */
type JournalGap = { kind: 'missing' | 'behind' | 'parked'; message: string };

/**
 * Null if the journal holds everything recorded by `asOf`, and nothing that the log lacks; finding that out may take some
 * seconds. Throws the database's errors.
 */
export async function journalGap(
  asOf: Date,
  stores: LagSources & { runtime: Pick<Runtime, 'now'> },
): Promise<JournalGap | null> {
  const status = (await projectionStatus(stores.db)).find(({ name }) => name === journal.name);
  if (!status)
    return { kind: 'missing', message: 'The journal does not exist yet: the projections have not run' };
  const behind = (message: string): JournalGap => ({ kind: 'behind', message });
  const { fault, parked } = status;
  try {
    const until = recordedUntil(asOf, stores.runtime.now());
    if (await isReady(journal, { until, waitMs: fault ? 0 : catchUpMs }, stores)) {
      if (parked.length === 0) return null;
      const streams = parked.map(({ stream }) => stream).join(', ');
      return { kind: 'parked', message: `The journal leaves out what is parked: ${streams}` };
    }
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    if (!fault) return behind('The event store does not answer: the journal may be incomplete');
  }
  if (!fault)
    return behind('The journal does not agree with the log yet, and may lack what was recorded last');
  return behind(`The journal has halted, and lacks everything after that: ${fault.message}`);
}

/** The codes of all merchants with an account in the journal, in order. */
export async function merchantsWithAccount(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { account: string }[] }>(
    `select distinct account from ${dailySums} where account like 'merchant:%' order by account`,
  );
  return rows.map(({ account }) => account.slice('merchant:'.length));
}
