/** An export as CSV: a row per payment for a spreadsheet, without anything about who paid. */
import { stringify } from 'csv-stringify/sync';
import { exceptionsOf } from '../../events/exceptions.ts';
import { currentResult, paymentStreamPrefix, type RequestedPayment } from '../../events/payment.ts';
import { attemptOf } from '../../events/payment-result.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { toDateTime } from '../../kernel/malaysian-time.ts';
import { addSen, formatSen, type Sen } from '../../kernel/money.ts';
import { historyOf } from '../history/history.ts';

/** Amounts are in RM, times in Malaysian time. */
const columns = [
  'transaction_id',
  'reference',
  'merchant',
  'channel',
  'status',
  'amount_rm',
  'charge_rm',
  'total_rm',
  'mode',
  'receipt_no',
  'requested_at',
  'paid_at',
  'last_event_at',
  'late',
  'exceptions',
  'exceptions_open',
  'events',
  'history',
] as const;

/** What a row does not say is an empty cell. */
type Row = Partial<Record<(typeof columns)[number], string | number>>;

/** The byte order mark tells spreadsheets that the file is UTF-8; without it they assume the machine's own code page. */
export function csvHead(): string {
  return write([columns], { bom: true });
}

/** Rows for whole streams. A payment whose events were changed has a row too, and `history` says so. */
export function csvRows(streams: readonly (readonly RecordedEvent[])[]): string {
  const rows = streams.map(rowOf);
  return write(rows.map((row) => columns.map((name) => row[name] ?? '')));
}

function write(records: readonly (readonly (string | number)[])[], { bom = false } = {}): string {
  // A cell that begins like a formula gets an apostrophe: a reference must not run in an auditor's spreadsheet.
  return stringify([...records], { bom, escape_formulas: true, record_delimiter: 'windows' });
}

function rowOf(events: readonly RecordedEvent[]): Row {
  const { entries, verdict } = historyOf(events);
  const state = entries.at(-1)?.state;
  const lastAt = entries.findLast(({ at }) => at !== null)?.at ?? null;
  return {
    transaction_id: events[0]?.streamName.slice(paymentStreamPrefix.length) ?? '',
    ...(state && state.status !== 'none' ? stateCells(state) : { status: 'unreadable' }),
    last_event_at: lastAt === null ? '' : toDateTime(lastAt),
    events: events.length,
    history: verdict.kind === 'whole' ? 'whole' : `${verdict.kind} at event ${verdict.revision}`,
  };
}

function stateCells(payment: RequestedPayment): Row {
  const { request, receipt, status } = payment;
  const result = currentResult(payment);
  const attempt = attemptOf(payment, result ?? { sellerOrderNo: '', gatewayTransactionId: '', mode: '' });
  const feeSen = attempt?.chargeSen ?? (0 as Sen);
  const exceptions = exceptionsOf(payment);
  const paidAt = status === 'succeeded' ? (result?.paidAt ?? result?.at ?? null) : null;
  return {
    reference: request.reference,
    merchant: request.merchant.code,
    channel: request.channel,
    status,
    amount_rm: formatSen(request.amountSen),
    charge_rm: formatSen(feeSen),
    total_rm: formatSen(addSen(request.amountSen, feeSen)),
    mode: result?.mode || (attempt?.mode ?? ''),
    receipt_no: receipt?.receiptNo ?? '',
    requested_at: toDateTime(request.at),
    paid_at: paidAt === null ? '' : toDateTime(paidAt),
    late: receipt?.late ? 'yes' : 'no',
    exceptions: exceptions.length,
    exceptions_open: exceptions.filter(({ resolved }) => resolved === null).length,
  };
}
