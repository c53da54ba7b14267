/** Finding payments: by what names one, by what several have in common, or by who paid, which is recorded first. */
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { paymentModes } from '../../../kernel/payment-modes.ts';
import {
  allPayments,
  type FoundPayment,
  type PaymentFilter,
  searchPayments,
} from '../../../projections/payments/search.ts';
import { termsOf } from '../../../projections/payments/search-tokens.ts';
import { type Context, seeOther } from '../../server/context.ts';
import { cursorText, readCursor } from '../frame/cursor.ts';
import { queryOf, readChoice, readDay, readText } from '../frame/filter-fields.ts';
import { readForm, readQuery } from '../frame/form.ts';
import type { ConsoleParts } from '../frame/parts.ts';
import { ConsoleProblem } from '../frame/problem.ts';
import type { ConsoleRoute } from '../frame/route.ts';
import type { Staff } from '../frame/staff.ts';

export const paymentsPath = '/console/payments';
const byPayerPath = '/console/payments/by-payer';
const pageSize = 50;
const statuses = ['requested', 'pending', 'succeeded', 'failed', 'cancelled'] as const;

type Typed = Readonly<Record<string, string | undefined>>;

export function findRoutes(parts: ConsoleParts): ConsoleRoute[] {
  return [
    { method: 'get', path: paymentsPath, action: 'look', handle: (ctx) => showFound(ctx, parts) },
    // The address of a search by payer, opened again: who was looked for is not in it.
    {
      method: 'get',
      path: byPayerPath,
      action: 'look',
      handle: async (ctx) => seeOther(ctx, paymentsPath),
    },
    // Not by GET: who is looked for would be in the address, and so in histories and in logs of proxies.
    {
      method: 'post',
      path: byPayerPath,
      action: 'lookAtPeople',
      handle: (ctx, staff) => showByPayer(ctx, parts, staff),
    },
  ];
}

/** The filter, and the fields that say it: those of the query, without all else. */
function readFilter({ q, merchant, status, mode, day, by }: Typed) {
  const fields = {
    q: readText(q),
    merchant: readText(merchant),
    status: readChoice(status, statuses),
    mode: readChoice(mode, paymentModes),
    day: readText(day),
    by: readChoice(by, ['paid'] as const),
  };
  const span = fields.day === null ? null : readDay(fields.day);
  const filter: PaymentFilter = {
    ...allPayments,
    named: fields.q,
    merchantCode: fields.merchant,
    status: fields.status,
    mode: fields.mode,
    requested: fields.by === 'paid' ? null : span,
    paid: fields.by === 'paid' ? span : null,
  };
  return { fields, filter };
}

async function showFound(ctx: Context, parts: ConsoleParts): Promise<void> {
  const query = readQuery(ctx);
  const { fields, filter } = readFilter(query);
  // Leads there even when nothing can be searched: the payment is folded from its stream.
  const id = fields.q?.toUpperCase() ?? '';
  if (transactionIdPattern.test(id)) return seeOther(ctx, `${paymentsPath}/${id}`);
  const { rows, next } = await find(parts, filter, query.after);
  await parts.frame.show(ctx, 'payments/payments.njk', {
    ...formModel(parts),
    filter: fields,
    payer: '',
    rows,
    isFiltered: Object.values(fields).some((field) => field !== null),
    nextUrl: next && `${paymentsPath}${queryOf({ ...fields, after: next })}`,
    after: null,
  });
}

async function showByPayer(ctx: Context, parts: ConsoleParts, staff: Staff): Promise<void> {
  const { payer = '', after } = readForm(ctx);
  const searchTokens = termsOf(payer.slice(0, 500));
  if (searchTokens.length === 0) return seeOther(ctx, paymentsPath);
  const detail = `${searchTokens.length} ${searchTokens.length === 1 ? 'word' : 'words'}`;
  await parts.recordLook(ctx, staff, { what: 'search', transactionId: null, detail });
  const { rows, next } = await find(parts, { ...allPayments, searchTokens }, after);
  await parts.frame.show(ctx, 'payments/payments.njk', {
    ...formModel(parts),
    filter: readFilter({}).fields,
    payer,
    rows,
    isFiltered: true,
    nextUrl: null,
    after: next,
  });
}

async function find(
  { console: { db }, log }: ConsoleParts,
  filter: PaymentFilter,
  after: string | undefined,
) {
  const cursor = readCursor(after, 1);
  const key = cursor && { requestedAt: cursor.at, transactionId: cursor.ids[0] ?? '' };
  try {
    const found = await searchPayments(db, filter, { limit: pageSize + 1, after: key });
    const rows = found.slice(0, pageSize);
    const last = found.length > pageSize ? rows.at(-1) : undefined;
    return { rows, next: last ? cursorOf(last) : null };
  } catch (err) {
    log.warn({ err }, 'payments cannot be searched in Postgres');
    throw new ConsoleProblem(
      503,
      'Payments cannot be searched at the moment. With its transaction id in the search, a payment is shown all the same',
    );
  }
}

function cursorOf({ requestedAt, transactionId }: FoundPayment): string {
  return cursorText({ at: requestedAt, ids: [transactionId] });
}

function formModel({ config }: ConsoleParts) {
  const merchants = Array.from(config.merchants.values(), ({ code, name }) => ({ value: code, text: name }));
  return { title: 'Payments', byPayerPath, merchants, modes: paymentModes, statuses };
}
