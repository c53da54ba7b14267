/** /console/journal: the trial balance, and the statement of each of its accounts. */
import type { Knex } from 'knex';
import type { EntryKind } from '../../../events/postings.ts';
import { boundsOfDay, dayOf } from '../../../kernel/malaysian-time.ts';
import {
  type AccountSums,
  accountPages,
  accountStatement,
  accountSums,
  journalGap,
  type PostingKey,
  type StatementLine,
  trialBalance,
} from '../../../projections/journal/queries.ts';
import { accountCsv } from '../../../statements/account-csv.ts';
import type { Context } from '../../server/context.ts';
import { cursorText, readCursor } from '../frame/cursor.ts';
import { queryOf } from '../frame/filter-fields.ts';
import { readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import { askReadModels } from '../frame/read-models.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import { readAsOf } from './as-of.ts';
import { refuseGap } from './refuse-gap.ts';

const path = '/console/journal';
const accountPath = '/console/journal/account';
const csvPath = '/console/journal/account.csv';
const pageSize = 200;

const kindTexts: Readonly<Record<EntryKind, string>> = {
  payment: 'Payment',
  mismatch: 'Wrong amount, held',
  duplicate: 'Paid twice, held',
  refund: 'Given back to the payer',
  credit: 'Credited to the merchant',
  reversal: 'Explained, taken back',
};

export function journalRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path, action: 'look', handle: (ctx) => showBalances(ctx, parts) },
    { method: 'get', path: accountPath, action: 'look', handle: (ctx) => showAccount(ctx, parts) },
    { method: 'get', path: csvPath, action: 'look', handle: (ctx) => download(ctx, parts) },
  ];
}

async function showBalances(
  ctx: Context,
  { clock, console: { db }, eventStore, frame, log, runtime }: ConsoleParts,
) {
  const { at } = readQuery(ctx);
  const asOf = readAsOf(at, clock());
  const [accounts, gap] = await askReadModels(ctx, log, [
    trialBalance(db, asOf),
    journalGap(asOf, { eventStore, db, runtime }),
  ]);
  const period = periodOf(undefined, dayOf(asOf.toISOString()));
  const total = {
    debitSen: accounts.reduce((sum, { debitSen }) => sum + debitSen, 0n),
    creditSen: accounts.reduce((sum, { creditSen }) => sum + creditSen, 0n),
  };
  await frame.show(ctx, 'journal/journal.njk', {
    title: 'Journal',
    at: at ?? '',
    asOf: asOf.toISOString(),
    gap: gap?.message ?? null,
    rows: accounts.map((sums) => ({
      ...sums,
      ...balanceOf(sums.creditSen - sums.debitSen),
      url: `${accountPath}${queryOf({ account: sums.account, ...period })}`,
    })),
    total,
    differenceSen: absolute(total.debitSen - total.creditSen),
  });
}

const absolute = (sen: bigint) => (sen < 0n ? -sen : sen);

/** As bookkeepers write it, with a side instead of a sign. */
function balanceOf(sen: bigint): { balanceSen: bigint; side: '' | 'Dr' | 'Cr' } {
  if (sen === 0n) return { balanceSen: 0n, side: '' };
  return { balanceSen: absolute(sen), side: sen < 0n ? 'Dr' : 'Cr' };
}

/** The days asked for; else those of the month up to then. */
function periodOf(from: string | undefined, to: string): { from: string; to: string } {
  return { from: from || `${to.slice(0, 8)}01`, to };
}

/** Throws ConsoleProblem where the query names no account or no period. */
async function readAsked(ctx: Context, { clock, console: { db }, log }: ConsoleParts) {
  const { account = '', from, to } = readQuery(ctx);
  const now = clock();
  const period = periodOf(from, to || dayOf(now.toISOString()));
  if (!boundsOfDay(period.from) || !boundsOfDay(period.to) || period.from > period.to)
    throw new ConsoleProblem(400, 'A period is of two days, the earlier one first; a day reads 2026-11-20');
  const [sums] = await askReadModels(ctx, log, [accountSums(db, account, now)]);
  if (isUnknown(sums)) throw new ConsoleProblem(404, 'Nothing was ever posted to such an account');
  return { asked: { account, ...period }, asOf: readAsOf(period.to, now), now };
}

const isUnknown = ({ debitSen, creditSen }: AccountSums) => debitSen === 0n && creditSen === 0n;

async function showAccount(ctx: Context, parts: ConsoleParts): Promise<void> {
  const {
    console: { db },
    eventStore,
    frame,
    log,
    runtime,
  } = parts;
  const { asked, asOf } = await readAsked(ctx, parts);
  const after = readKey(readQuery(ctx).after);
  const page = askPage(db, { ...asked, after });
  const [{ openingSen, lines, more, closingSen }, gap] = await askReadModels(ctx, log, [
    page,
    journalGap(asOf, { eventStore, db, runtime }),
  ]);
  const last = more ? lines.at(-1) : undefined;
  await frame.show(ctx, 'journal/account.njk', {
    title: asked.account,
    ...asked,
    gap: gap?.message ?? null,
    opening: balanceOf(openingSen),
    closing: balanceOf(closingSen),
    rows: lines.map((line) => ({
      ...line,
      at: line.at.toISOString(),
      valueAt: line.valueAt.toISOString(),
      kindText: kindTexts[line.kind],
      ...balanceOf(line.balanceSen),
    })),
    csvUrl: `${csvPath}${queryOf(asked)}`,
    firstUrl: after && `${accountPath}${queryOf(asked)}`,
    nextUrl: last ? `${accountPath}${queryOf({ ...asked, after: keyText(last) })}` : null,
  });
}

function askPage(db: Knex, asked: { account: string; from: string; to: string; after: PostingKey | null }) {
  return accountStatement(db, { ...asked, limit: pageSize });
}

function keyText({ at, transactionId, revision, line }: StatementLine): string {
  return cursorText({ at, ids: [transactionId, String(revision), String(line)] });
}

function readKey(text: string | undefined): PostingKey | null {
  const cursor = readCursor(text, 3);
  if (cursor === null) return null;
  const [transactionId = '', revision = '', line = ''] = cursor.ids;
  if (![revision, line].every((each) => /^\d{1,9}$/.test(each)))
    throw new ConsoleProblem(400, 'The list has no such page');
  return { at: cursor.at, transactionId, revision: Number(revision), line: Number(line) };
}

async function download(ctx: Context, parts: ConsoleParts): Promise<void> {
  const { asked, asOf } = await readAsked(ctx, parts);
  await refuseGap(ctx, parts, asOf);
  const name = [asked.account, asked.from, asked.to].join('-').replace(/[^\w.-]+/g, '-');
  ctx.attachment(`${name}.csv`);
  ctx.type = 'text/csv; charset=utf-8';
  ctx.body = accountCsv(asked.account, accountPages(parts.console.db, asked));
}
