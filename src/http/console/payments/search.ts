/** /console/payments: finds payments by what people read out, by a filter, or by payer. */
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { paymentModes } from '../../../common/payment-modes.ts';
import { indexedTokens } from '../../../projections/payments/payers.ts';
import { type PaymentFilter, searchPayments } from '../../../projections/payments/queries.ts';
import { termsOf } from '../../../projections/payments/search-tokens.ts';
import { type Context, seeOther } from '../../server/context.ts';
import {
  cursorText,
  type Fields,
  keysOf,
  merchantOptions,
  pageOf,
  readChoice,
  readCursor,
  readDay,
  readForm,
  readQuery,
  readText,
} from '../frame/forms-and-lists.ts';
import type { Page, PageDependencies } from '../frame/page.ts';
import type { StaffContext } from '../frame/session.ts';
import { texts } from '../texts.ts';

export const paymentsPath = '/console/payments';
const size = 50;
const maxPayerLength = 500;
const notSearchable = 'Payments cannot be searched at the moment. Enter a transaction id to open its payment';

/** The filter, and the fields of the form that set it. */
function readFilter({ q, merchant, status, mode, day, by }: Fields) {
  const fields = {
    q: readText(q),
    merchant: readText(merchant),
    status: readChoice(status, keysOf(texts.statuses)),
    mode: readChoice(mode, paymentModes),
    day: readText(day),
    by: readChoice(by, ['paid'] as const),
  };
  const span = readDay(fields.day);
  const filter: PaymentFilter = {
    named: fields.q,
    merchantCode: fields.merchant,
    status: fields.status,
    mode: fields.mode,
    requested: fields.by === 'paid' ? null : span,
    paid: fields.by === 'paid' ? span : null,
  };
  return { fields, filter };
}

type Filter = ReturnType<typeof readFilter>;

export const showPayments: Page = async (ctx, dependencies) => {
  const query = readQuery(ctx);
  const asked = readFilter(query);
  // Works also when Postgres is down: the payment's page reads its stream.
  const id = asked.fields.q?.toUpperCase() ?? '';
  if (transactionIdPattern.test(id)) return seeOther(ctx, `${paymentsPath}/${id}`);
  await showFound(ctx, dependencies, asked, query.after);
};

/**
 * Numbers and references first; whoever types something else names a payer. A POST, because names in an address end up in
 * browser histories and in the logs of proxies.
 */
export const find: Page = async (ctx, dependencies) => {
  const { q = '' } = readForm(ctx);
  const text = q.trim().slice(0, maxPayerLength);
  const { askReadModels, db } = dependencies;
  const isId = transactionIdPattern.test(text.toUpperCase());
  const [found] = isId
    ? [[]]
    : await askReadModels(
        ctx,
        [searchPayments(db, { named: text }, { limit: 1, after: null })],
        notSearchable,
      );
  if (isId || text === '' || found.length > 0)
    return seeOther(ctx, `${paymentsPath}?q=${encodeURIComponent(text)}`);
  await showPayersPayments(ctx, dependencies, text);
};

/** Also where a payer has what is part of a reference. */
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
  const tokens = termsOf(payer.slice(0, maxPayerLength));
  if (tokens.length === 0) return seeOther(ctx, paymentsPath);
  const detail = `${tokens.length} ${tokens.length === 1 ? 'word' : 'words'}`;
  await dependencies.recordAccess(ctx, { what: 'search', transactionId: null, detail });
  const { fields } = readFilter({});
  await showFound(ctx, dependencies, { fields, filter: {} }, after, { text: payer, tokens });
}

async function showFound(
  ctx: Context,
  { askReadModels, config, db, personalData, show }: PageDependencies,
  { fields, filter }: Filter,
  after: string | undefined,
  payer: { text: string; tokens: readonly string[] } = { text: '', tokens: [] },
): Promise<void> {
  const cursor = readCursor(after, 1);
  const key = cursor && { requestedAt: cursor.at, transactionId: cursor.ids[0] ?? '' };
  const [found] = await askReadModels(
    ctx,
    [
      indexedTokens(payer.tokens, db, personalData).then((searchTokens) =>
        searchPayments(db, { ...filter, searchTokens }, { limit: size + 1, after: key }),
      ),
    ],
    notSearchable,
  );
  const page = { size, path: paymentsPath, filter: fields, isFirst: cursor === null };
  const { rows, ...links } = pageOf(found, page, ({ requestedAt, transactionId }) => ({
    after: cursorText(requestedAt, transactionId),
  }));
  await show(ctx, 'payments/payments.njk', {
    title: 'Payments',
    isPayments: true,
    merchants: merchantOptions(config.merchants),
    filter: fields,
    payer: payer.text,
    rows,
    isFiltered: payer.text !== '' || Object.values(fields).some((field) => field !== null),
    ...links,
  });
}
