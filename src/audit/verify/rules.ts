/**
 * Rules of the journal, and those that hold for every payment whatever its history. The fold does not enforce them, so a
 * forged history breaks them. Reads the rows, which read-models.ts compares with a fresh fold.
 */
import { pagesOf } from '@ledger/kernel/pages.ts';
import { type Payment, paymentStream, type RequestedPayment } from '../../events/payment.ts';
import { journalBalance } from '../../projections/journal/queries.ts';
import { openSharedNumbers } from '../../projections/journal/shared-number-queries.ts';
import { payments } from '../../projections/payments/projection.ts';
import type { DerivedCheck, Verification } from './verification.ts';
import type { Violations } from './violations.ts';

/** Longer than any pause of the retry schedule: a delivery that has been due for longer was not attempted. */
const overdueAfterMs = 24 * 60 * 60_000;
const pageSize = 1000;

/** Debits equal credits in every entry, and so in total; no two payments share a number without an explanation. */
export const verifyJournal: DerivedCheck = async ({ db, report: { violations } }) => {
  const { debitSen, unbalanced } = await journalBalance(db);
  if (unbalanced > 0)
    violations.add('the journal', 'The journal has entries whose debits are not their credits', unbalanced);
  const { count, first } = await openSharedNumbers(db);
  if (first) {
    const what = first.kind === 'sharedReceiptNo' ? 'receipt number' : 'gateway transaction';
    const payments = `Payments ${first.firstTransactionId} and ${first.transactionId}`;
    violations.add('shared numbers', `${payments} have the same ${what}, and nobody has explained it`, count);
  }
  return [{ what: 'sen of debits against as many of credits', count: Number(debitSen) }];
};

type PaymentState = { id: string; state: Payment };

/** Throws what the signal was aborted with, EventStoreUnavailable, and the database's error. */
export const verifyPayments: DerivedCheck = async (verification) => {
  const { db, onProgress, report, runtime, signal } = verification;
  const overdueBeforeMs = runtime.now().getTime() - overdueAfterMs;
  const paymentsChecked = { what: 'payments, each with a receipt if it is paid', count: 0 };
  const deliveriesChecked = { what: 'deliveries, in order and not overdue', count: 0 };
  const load = async (after: PaymentState | null) => {
    signal.throwIfAborted();
    const { rows } = await db.raw<{ rows: PaymentState[] }>(
      `select transaction_id as id, state from ${payments.name}.payments
       where transaction_id > ? order by transaction_id limit ?`,
      [after?.id ?? '', pageSize],
    );
    return rows;
  };
  for await (const rows of pagesOf(pageSize, load)) {
    for (const { id, state } of rows) {
      if (!isPayment(state)) continue;
      paymentsChecked.count += 1;
      deliveriesChecked.count += state.deliveries.length;
      checkPayment(id, state, overdueBeforeMs, report.violations);
      await checkOrder(id, state, verification);
    }
    onProgress({ step: 'payments', done: paymentsChecked.count, share: null });
  }
  return [paymentsChecked, deliveriesChecked];
};

/** False for a state that somebody has replaced: the comparison of rows reports it. */
function isPayment(state: unknown): state is RequestedPayment {
  const deliveries: unknown = Reflect.get(Object(state), 'deliveries');
  return Array.isArray(deliveries) && deliveries.every((each) => each !== null);
}

function checkPayment(
  id: string,
  { status, receipt, deliveries }: RequestedPayment,
  overdueBeforeMs: number,
  violations: Violations,
): void {
  if (status === 'succeeded' && !receipt?.receiptNo)
    violations.add('receipts', `Payment ${id} is paid and has no receipt number`);
  if (status !== 'succeeded' && receipt)
    violations.add('receipts', `Payment ${id} has a receipt number and is not paid`);
  const overdue = deliveries.find(
    ({ state, dueAt }) => state === 'due' && Date.parse(dueAt) < overdueBeforeMs,
  );
  if (overdue)
    violations.add(
      'overdue deliveries',
      `Of payment ${id} ${overdue.key} has been due since ${overdue.dueAt}, and was not attempted`,
    );
}

/** A merchant must not hear of an older status after a newer one. The log has the order: clocks may be set back. */
async function checkOrder(id: string, { deliveries }: RequestedPayment, verification: Verification) {
  const delivered = deliveries.filter(({ kind, state }) => kind === 'callback' && state === 'delivered');
  if (!delivered.some((each, at) => String(each.settledAt) < (delivered[at - 1]?.settledAt ?? ''))) return;
  const events = await verification.eventStore.load(paymentStream(id));
  const keys = events.map(({ data, type }) => type === 'CallbackDelivered' && Object(data).delivery);
  const places = delivered.map(({ key }) => keys.lastIndexOf(key));
  const wrong = places.findIndex((place, index) => place < (places[index - 1] ?? place));
  const text = `Of payment ${id} ${delivered[wrong - 1]?.key} was delivered after ${delivered[wrong]?.key}`;
  if (wrong > 0) verification.report.violations.add('the order of callbacks', text);
}
