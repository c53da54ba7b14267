/**
 * Finds the numbers that two payments share: tables of the journal, which reads all that moves money in the order of the
 * log. The primary key of `numbers` lets only the first payment have a number; every other one gets a row in
 * `shared_numbers`, which is an exception for staff. Nothing of this stops the journal.
 */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { prepared } from '@ledger/postgres/prepared.ts';
import { givenRows, indexable, upsert } from '@ledger/postgres/table.ts';
import type { Knex } from 'knex';
import tables from '../../../content/tables/journal.json' with { type: 'json' };
import type { PaymentEvent } from '../../events/payment.ts';
import type { Books } from '../../events/postings.ts';
import {
  type NumberOfPayment,
  numberIdOf,
  type SharedNumberKind,
  sharedNumberFold,
  sharedNumberIdOf,
} from '../../events/shared-number.ts';

export type Claim = NumberOfPayment & {
  transactionId: string;
  paidCode: string;
  at: string;
  amountSen: number | null;
  /** The revision of the event that booked it; null if a later report names it. */
  revision: number | null;
};

type Place = { transactionId: string; revision: number; books: Books };

/** The numbers that an event gives its payment; `books` are those after the event. */
export function claimsOf(event: PaymentEvent, { transactionId, revision: own, books }: Place): Claim[] {
  const { at } = event.data;
  const revision = event.type === 'GatewayResultIdentified' ? null : own;
  const common = { transactionId, revision, paidCode: books.merchantCode, at };
  const claim = (kind: SharedNumberKind, number: string, amountSen: number | null) => {
    const merchantCode = kind === 'sharedReceiptNo' ? books.merchantCode : '';
    return number === '' ? [] : [{ ...common, kind, merchantCode, number, amountSen }];
  };
  switch (event.type) {
    case 'PaymentSucceeded': {
      const { receiptNo, result } = event.data;
      return [
        ...claim('sharedGatewayTransaction', result.gatewayTransactionId, result.amountSen),
        ...claim('sharedReceiptNo', receiptNo, result.amountSen),
      ];
    }
    case 'AmountMismatchDetected':
    case 'DuplicatePaymentDetected': {
      const { gatewayTransactionId, amountSen } = event.data.result;
      return claim('sharedGatewayTransaction', gatewayTransactionId, amountSen);
    }
    case 'AmountMismatchCredited': {
      const { amountSen, receiptNo } = event.data;
      return claim('sharedReceiptNo', receiptNo, amountSen);
    }
    case 'GatewayResultIdentified':
      return claim('sharedGatewayTransaction', event.data.gatewayTransactionId, null);
    default:
      return [];
  }
}

/** Writes the claims, in the order of the log, and an exception for each number that another payment had before. */
export async function writeClaims(claims: readonly Claim[], db: Knex.Transaction): Promise<void> {
  if (claims.length === 0) return;
  const rows = claims.map((claim) => ({
    number_id: numberIdOf(claim),
    id: sharedNumberIdOf(claim, claim.transactionId),
    kind: claim.kind,
    number: indexable(claim.number),
    merchant_code: indexable(claim.paidCode),
    transaction_id: claim.transactionId,
    revision: claim.revision,
    at: claim.at,
    amount_sen: claim.amountSen,
  }));
  const firstBy = (key: 'number_id' | 'id') =>
    Array.from(new Map(rows.toReversed().map((row) => [row[key], row] as const)).values());
  const booked = rows.filter(({ revision }) => revision !== null);
  const last = new Map(booked.map((row) => [row.id, row] as const));
  const first = firstBy('number_id').map(({ id, number_id, transaction_id }) => ({
    id: number_id,
    transaction_id,
    revision: last.get(id)?.revision ?? null,
  }));
  await upsert(db, tables.numbers, first);
  await prepared(db, updateRevisions, [JSON.stringify([...last.values()])]);
  await prepared(db, insertShared, [JSON.stringify(firstBy('id'))]);
}

/** A later report of the same charge may be in the books in place of the first one. */
const updateRevisions = `
  update numbers set revision = given.revision
  from ${givenRows({ number_id: 'text', transaction_id: 'text', revision: 'integer' })}
  where numbers.id = given.number_id and numbers.transaction_id = given.transaction_id
    and numbers.revision is distinct from given.revision`;

const found = tables.sharedNumbers.columns;
const names = Object.keys(found);
const insertShared = `
  insert into shared_numbers (${names.join(', ')}, first_transaction_id)
  select ${names.map((name) => `given.${name}`).join(', ')}, numbers.transaction_id
  from ${givenRows({ ...found, number_id: 'text' })}
  join numbers on numbers.id = given.number_id and numbers.transaction_id <> given.transaction_id
  on conflict (id) do nothing`;

export async function writeExplanations(
  events: readonly RecordedEvent[],
  db: Knex.Transaction,
): Promise<void> {
  const resolved = events.map((event) => ({
    id: event.streamName.slice(sharedNumberFold.prefix.length),
    resolved_at: sharedNumberFold.read(event).data.at,
  }));
  if (resolved.length > 0) await db.raw(writeResolved, [JSON.stringify(resolved)]);
}

const writeResolved = `
  update shared_numbers set resolution = 'explained', resolved_at = given.resolved_at
  from ${givenRows({ id: 'text', resolved_at: 'timestamptz' })}
  where shared_numbers.id = given.id`;
