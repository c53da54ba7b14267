/**
 * What must hold for every payment whatever its history: rules that the fold does not make by itself, so that a history
 * that was made up breaks them. Read from the rows, which are held to a fresh fold elsewhere.
 */
import type { Knex } from 'knex';
import type { Payment, RequestedPayment } from '../../events/payment.ts';
import { payments } from '../../projections/payments/projection.ts';
import type { Violations } from './violations.ts';

/** What is due longer than this was not tried: the longest pause of the schedule has its own due time. */
const overdueAfterMs = 24 * 60 * 60_000;
const pageSize = 1000;

export type PaymentsResult = { payments: number; deliveries: number };

/** Throws what the signal was aborted with, and the database's error. */
export async function verifyPayments({
  db,
  now,
  violations,
  signal,
  onProgress,
}: {
  db: Knex;
  now: Date;
  violations: Violations;
  signal: AbortSignal;
  onProgress: (payments: number) => void;
}): Promise<PaymentsResult> {
  const result = { payments: 0, deliveries: 0 };
  let last = '';
  while (true) {
    signal.throwIfAborted();
    const { rows } = await db.raw<{ rows: { id: string; state: Payment }[] }>(
      `select transaction_id as id, state from ${payments.name}.payments
       where transaction_id > ? order by transaction_id limit ?`,
      [last, pageSize],
    );
    for (const { id, state } of rows) {
      if (!isWhole(state)) continue;
      result.payments += 1;
      result.deliveries += state.deliveries.length;
      checkReceipt(id, state, violations);
      checkCallbackOrder(id, state, violations);
      checkOverdue(id, state, now, violations);
    }
    onProgress(result.payments);
    const end = rows.at(-1);
    if (!end || rows.length < pageSize) return result;
    last = end.id;
  }
}

/** Whether it is a payment's at all: of what somebody put in its place only the comparison of rows has to tell. */
function isWhole(state: unknown): state is RequestedPayment {
  const deliveries: unknown = Reflect.get(Object(state), 'deliveries');
  return Array.isArray(deliveries) && deliveries.every((each) => each !== null);
}

function checkReceipt(id: string, { status, receipt }: RequestedPayment, violations: Violations): void {
  if (status === 'succeeded' && !receipt?.receiptNo)
    violations.add('receipts', `Payment ${id} is paid and has no receipt number`);
  if (status !== 'succeeded' && receipt)
    violations.add('receipts', `Payment ${id} has a receipt number and is not paid`);
}

/** A merchant must not hear of an older status after a newer one. */
function checkCallbackOrder(id: string, { deliveries }: RequestedPayment, violations: Violations): void {
  let before: { key: string; settledAt: string } | null = null;
  for (const { kind, key, state, settledAt } of deliveries) {
    if (kind !== 'callback' || state !== 'delivered' || settledAt === null) continue;
    if (before && settledAt < before.settledAt)
      violations.add('the order of callbacks', `Of payment ${id} ${before.key} was delivered after ${key}`);
    before = { key, settledAt };
  }
}

function checkOverdue(id: string, { deliveries }: RequestedPayment, now: Date, violations: Violations): void {
  const latest = now.getTime() - overdueAfterMs;
  const overdue = deliveries.find(({ state, dueAt }) => state === 'due' && Date.parse(dueAt) < latest);
  if (overdue)
    violations.add(
      'overdue deliveries',
      `Of payment ${id} ${overdue.key} is due since ${overdue.dueAt}, and nobody tried it`,
    );
}
