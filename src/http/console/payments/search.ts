/** /console/payments: finds payments by what people read out, by a filter, or by payer. */
import { readPage } from '@ledger/postgres/listing.ts';
import type { Knex } from 'knex';
import lists from '../../../../content/tables/lists.json' with { type: 'json' };
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { paymentModes } from '../../../common/payment-modes.ts';
import { plural } from '../../../common/plural.ts';
import { indexedTokens } from '../../../projections/payments/payers.ts';
import { narrowed, type PaymentFilter, paymentsOf } from '../../../projections/payments/search.ts';
import { typedTerms } from '../../../projections/payments/search-tokens.ts';
import { seeOther } from '../../server/context.ts';
import {
  type Fields,
  keysOf,
  merchantsFor,
  readChoice,
  readForm,
  readQuery,
  readText,
} from '../frame/forms-and-lists.ts';
import { readAmounts, readDays, readList, rowsFor } from '../frame/list.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';
import { texts } from '../texts.ts';

export const paymentsPath = '/console/payments';
const maxPayerLength = 500;
const notSearchable = 'Payments cannot be searched at the moment. Enter a transaction id to open its payment';

export const paymentList = (typed: Fields) => listWith(typed, []);

/** The list that the fields of the form ask for; with tokens, of the payments of a payer alone. */
function listWith(typed: Fields, searchTokens: readonly string[][]) {
  const [days, { amounts, fields: limits }] = [readDays(typed), readAmounts(typed)];
  const fields = {
    q: readText(typed.q),
    merchant: readText(typed.merchant),
    status: readChoice(typed.status, keysOf(texts.en.statuses)),
    mode: readChoice(typed.mode, paymentModes),
    ...days.fields,
    by: readChoice(typed.by, ['paid'] as const),
    ...limits,
  };
  const { by, merchant: merchantCode, mode, q: named, status } = fields;
  const when = { [by ?? 'requested']: days.span };
  const filter: PaymentFilter = { named, merchantCode, status, mode, ...when, amounts, searchTokens };
  const all = (db: Knex) => paymentsOf(db, filter);
  return { listing: lists.payments, path: paymentsPath, fields, filter, all };
}

export const showPayments: Page = async (ctx, dependencies) => {
  const query = readQuery(ctx);
  // Works also when Postgres is down: the payment's page reads its stream.
  const id = readText(query.q)?.toUpperCase() ?? '';
  if (transactionIdPattern.test(id)) return seeOther(ctx, `${paymentsPath}/${id}`);
  await showFound(ctx, dependencies, query);
};

/** Looks for numbers and references first, then for payers. A POST, because addresses end up in histories and logs. */
export const find: Page = async (ctx, dependencies) => {
  const { q = '' } = readForm(ctx);
  const text = q.trim().slice(0, maxPayerLength).toWellFormed();
  const { askReadModels, db } = dependencies;
  const search = async () => {
    const all = paymentsOf(db, await narrowed(db, { named: text }));
    return await readPage(db, rowsFor(ctx, lists.payments, all), lists.payments, { limit: 1, after: null });
  };
  const isId = transactionIdPattern.test(text.toUpperCase());
  const [found] = isId ? [[]] : await askReadModels(ctx, [search()], notSearchable);
  if (isId || text === '' || found.length > 0)
    return seeOther(ctx, `${paymentsPath}?q=${encodeURIComponent(text)}`);
  await showPayersPayments(ctx, dependencies, text);
};

/** Searches payers even for a text that is part of a reference. */
export const searchByPayer: Page = async (ctx, dependencies) => {
  const { payer = '', after } = readForm(ctx);
  await showPayersPayments(ctx, dependencies, payer, after);
};

async function showPayersPayments(
  ctx: StaffContext,
  dependencies: PageDependencies,
  payer: string,
  after?: string,
): Promise<void> {
  const tokens = typedTerms(payer.slice(0, maxPayerLength));
  if (tokens.length === 0) return seeOther(ctx, paymentsPath);
  const detail = plural(tokens.length, 'word');
  await dependencies.recordAccess(ctx, { what: 'search', transactionId: null, detail });
  await showFound(ctx, dependencies, { after }, { text: payer, tokens });
}

async function showFound(
  ctx: StaffContext,
  dependencies: PageDependencies,
  typed: Fields,
  payer: { text: string; tokens: readonly string[] } = { text: '', tokens: [] },
): Promise<void> {
  const { askReadModels, db, personalData } = dependencies;
  const [tokens] = await askReadModels(ctx, [indexedTokens(payer.tokens, db, personalData)], notSearchable);
  const asked = listWith(typed, tokens);
  const [found] = await askReadModels(ctx, [narrowed(db, asked.filter)], notSearchable);
  const list = { ...asked, all: () => paymentsOf(db, found) };
  await dependencies.show(ctx, 'payments/payments.njk', {
    isPayments: true,
    merchants: merchantsFor(ctx, dependencies.config.merchants),
    payer: payer.text,
    ...(await readList(ctx, dependencies, list, typed, notSearchable)),
    ...(payer.text !== '' && { sortUrl: null, exportUrl: null }),
  });
}
