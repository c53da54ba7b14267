/** The rows of the list of deliveries, one for each ordering key of a payment; and what is known of each payment. */
import { prepared } from '@ledger/postgres/prepared.ts';
import { indexable, insertGiven, type Row, upsertGiven } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import tables from '../../content/tables/to-do.json' with { type: 'json' };
import { sqlOf } from '../common/sql.ts';
import type { Delivery } from '../events/deliveries.ts';
import type { KnownDeliveries } from './known-deliveries.ts';

/** The schema of the list's tables, and the name of the projection that fills them. */
export const toDoSchema = 'reactor_deliveries';

/** The Postgres channel that announces rows that are or become due; the payload is their kind. */
export const dueChannel = 'deliveries_due';

const { columns: derivedColumns } = tables.deliveries;

/**
 * Deliveries with the same key are sent one after the other and share a row, which is about the newest. All callbacks
 * of a payment share a key; each item of the land registry and the email has its own.
 */
export function orderingKeyOf({ kind, key }: Delivery): string {
  return kind === 'callback' ? 'callback' : key;
}

/** Attempts ever made under an ordering key: a row with fewer is behind its stream. */
export function attemptsOf(orderingKey: string, deliveries: readonly Delivery[]): number {
  return deliveries
    .filter((delivery) => orderingKeyOf(delivery) === orderingKey)
    .reduce((sum, { attempts }) => sum + attempts, 0);
}

/** `announces`: all that is due, to the workers of every process. */
export async function writePayments(
  payments: readonly KnownDeliveries[],
  announces: boolean,
  db: Knex.Transaction,
): Promise<void> {
  if (payments.length === 0) return;
  const known = payments.map((one) => ({ transaction_id: one.transactionId, known: JSON.stringify(one) }));
  const rows = [JSON.stringify(known), JSON.stringify(payments.flatMap(rowsOf))];
  await prepared(db, upsertAndAnnounce, [...rows, dueChannel, announces]);
}

/**
 * Moves a payment on to what was folded from more of its stream than the list has processed, provided that `holder` still
 * holds the lease on this ordering key. The list then skips those events. Announces all that is due.
 */
export async function settleDeliveries(
  known: KnownDeliveries,
  { orderingKey, holder }: { orderingKey: string; holder: string },
  db: Knex,
): Promise<void> {
  const moved = [JSON.stringify(known), known.transactionId, known.revision, orderingKey, holder];
  const written = [JSON.stringify(rowsOf(known)), dueChannel, true];
  await prepared(db, settle, [...moved, ...written]).timeout(5_000);
}

/** The newest delivery of each ordering key. */
function rowsOf(payment: KnownDeliveries): Row<keyof typeof derivedColumns>[] {
  const { transactionId, merchantCode, deliveries } = payment;
  const newest = new Map(deliveries.map((delivery) => [orderingKeyOf(delivery), delivery]));
  return Array.from(newest, ([orderingKey, delivery]) => ({
    transaction_id: transactionId,
    ordering_key: orderingKey,
    delivery: delivery.key,
    kind: delivery.kind,
    receiver: delivery.receiver,
    merchant_code: indexable(merchantCode),
    state: delivery.state,
    due_at: delivery.dueAt,
    attempts: attemptsOf(orderingKey, deliveries),
    called_at: delivery.calledAt,
    settled_at: delivery.settledAt,
  }));
}

const writeInto = (deliveries: string, condition: string, before: string) => {
  const insert = insertGiven({ name: `${deliveries} as deliveries`, columns: derivedColumns });
  return sqlOf('write-deliveries', { before, insert: `${insert} ${condition}` });
};

const upsertKnown = upsertGiven(tables.payments, ['known']);
const upsertAndAnnounce = writeInto('deliveries', '', `with known as (${upsertKnown}),`);

/**
 * The revision in what is known of a payment, read without `->>`, which cannot read a text with U+0000. A regular
 * expression takes six times as long.
 */
export const revisionIn = (known: string) =>
  `split_part(split_part(${known}::text, '"revision":', 2), ',', 1)::integer`;

const moved = `
  with moved as (
    update ${toDoSchema}.payments as payments set known = ?
    from ${toDoSchema}.deliveries as held
    where payments.transaction_id = ? and ${revisionIn('payments.known')} < ?
      and held.transaction_id = payments.transaction_id and held.ordering_key = ? and held.leased_by = ?
    returning payments.transaction_id
  ),`;
const settle = writeInto(`${toDoSchema}.deliveries`, 'where exists (select from moved)', moved);
