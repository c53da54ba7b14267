/**
 * The details that merchants gave when they requested a generic payment, in columns: one row per payment, in the agency's
 * own table where there is one, or else in the shared one.
 */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { type OpenSealed, openOrWait } from '@ledger/personal-data/sealed.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { createTables, quoteIdentifier } from '@ledger/postgres/table.ts';
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import { formatSen } from '../../common/money.ts';
import {
  type PaymentRequested,
  paymentIdOf,
  paymentStreamPrefix,
  readPaymentEvent,
} from '../../events/payment.ts';
import type { Payer } from '../../events/personal-data.ts';
import { scrub } from './scrub.ts';
import {
  allDetails,
  copyAgencyTables,
  type DetailsTable,
  detailsSchema,
  detailsTableOf,
  findAgencyTables,
  haveSameAgencyTables,
  type StandardColumn,
  sharedDetails,
  sharedTable,
  standardColumns,
  writeAccepted,
} from './tables.ts';

export const details: Projection = {
  name: detailsSchema,
  version: 2,
  streamPrefixes: [paymentStreamPrefix],

  async createTables(db) {
    await createTables(db, sharedDetails);
    await copyAgencyTables(db);
  },

  stillMatches: haveSameAgencyTables,
  comparedIn: allDetails,

  async project(events, db, { open }) {
    const requested = await Promise.all(events.map((event) => rowOf(event, open)));
    await insertAll(
      requested.filter((row) => row !== null),
      db,
    );
    await scrub(
      events
        .filter(({ type }) => type === 'PersonalDataErased')
        .map(({ streamName }) => paymentIdOf(streamName)),
      db,
    );
  },
};

type Row = {
  /** The agency's own table, whether or not it exists. */
  table: string | null;
  standard: Readonly<Record<StandardColumn, string | null>>;
  extra: Readonly<Record<string, unknown>>;
};

async function insertAll(rows: readonly Row[], db: Knex.Transaction): Promise<void> {
  if (rows.length === 0) return;
  const tables = await findAgencyTables(db, [...new Set(rows.flatMap(({ table }) => table ?? []))]);
  const shared: Row[] = [];
  for (const [named, group] of Map.groupBy(rows, ({ table }) => table)) {
    const table = tables.find(({ name }) => name === named && name !== sharedTable);
    const refused = table && (await writeAccepted(db, group, (trx, some) => insert(trx, table, some)));
    shared.push(...(refused ?? group));
  }
  if (shared.length > 0) await insert(db, { name: sharedTable, columns: [] }, shared);
}

/** A row for the first event of a generic payment, none for any other event. Where data are erased, it is null. */
async function rowOf(event: RecordedEvent, open: OpenSealed): Promise<Row | null> {
  if (event.type !== 'PaymentRequested') return null;
  const { type, data } = readPaymentEvent(event);
  if (type !== 'PaymentRequested' || data.channel !== 'generic') return null;
  const place = { stream: event.streamName, field: 'personal' } as const;
  const details = await openOrWait(open, data.personal, place);
  const standard = standardFields(paymentIdOf(event.streamName), data, details?.payer ?? null);
  return { table: detailsTableOf(data.merchant.code), standard, extra: details?.extra ?? {} };
}

function standardFields(
  transactionId: string,
  request: PaymentRequested,
  payer: Payer | null,
): Row['standard'] {
  return {
    transaction_id: transactionId,
    merchant_code: request.merchant.code,
    trans_id: request.reference,
    amount: formatSen(request.amountSen),
    service: request.service,
    description: request.description,
    callback_url: request.callbackUrl,
    redirect_url: request.redirectUrl,
    name: payer?.name || null,
    email: payer?.email || null,
    ic_no: payer?.icNo || null,
    address_1: payer?.address1 || null,
    address_2: payer?.address2 || null,
    city: payer?.city || null,
    postcode: payer?.postcode || null,
    state: payer?.state || null,
    phone_no: payer?.phoneNo || null,
    requested_at: request.at,
  };
}

/** Skips rows that exist already. Columns that no row fills keep their default. */
async function insert(db: Knex.Transaction, table: DetailsTable, rows: readonly Row[]): Promise<void> {
  const fitting = await fittingKeys(db, table, rows);
  const records = rows.map(({ standard, extra }, index) => {
    const isFitting = ([key]: [string, unknown]) => fitting[index]?.has(key) ?? false;
    const { fits = [], rest = [] } = Object.groupBy(Object.entries(extra), (entry) =>
      isFitting(entry) ? 'fits' : 'rest',
    );
    return { ...Object.fromEntries(fits), ...standard, extra: Object.fromEntries(rest) };
  });
  const columns = [...standardColumns, 'extra', ...new Set(fitting.flatMap((keys) => [...keys]))];
  const list = columns.map(quoteIdentifier).join(', ');
  await prepared(
    db,
    `insert into ${quoteIdentifier(table.name)} (${list})
     select ${list} from jsonb_populate_recordset(null::${quoteIdentifier(table.name)}, ?)
     on conflict (transaction_id) do nothing`,
    [json(records)],
  );
}

/** For each row, the keys of `extra` that name a column that takes the value. Lists, objects and null stay in it. */
async function fittingKeys(
  db: Knex.Transaction,
  { columns }: DetailsTable,
  rows: readonly Row[],
): Promise<ReadonlySet<string>[]> {
  const candidates = rows.flatMap(({ extra }, index) =>
    columns
      .map(({ name, type }) => ({ index, key: name, type, value: extra[name] }))
      .filter(({ value }) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
  const fitting = rows.map(() => new Set<string>());
  if (candidates.length === 0) return fitting;
  const { rows: taken } = await db.raw<{ rows: { index: number; key: string }[] }>(
    `select index, key from jsonb_to_recordset(?) as candidate (index integer, key text, type text, value text)
     where pg_input_is_valid(value, type)`,
    [json(candidates)],
  );
  for (const { index, key } of taken) fitting[index]?.add(key);
  return fitting;
}

/** JSON that jsonb accepts: U+FFFD replaces U+0000 and lone surrogates, which it cannot store. */
function json(value: unknown): string {
  return JSON.stringify(value).replace(/\\(\\|u0000|ud[89a-f][0-9a-f]{2})/g, (found) =>
    found === '\\\\' ? found : '\\ufffd',
  );
}
