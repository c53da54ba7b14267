/** An export as CSV: a row per payment for a spreadsheet, without anything about who paid. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { stringify } from 'csv-stringify/sync';
import { toDateTime } from '../../common/malaysian-time.ts';
import { formatSen } from '../../common/money.ts';
import { adjustedSen } from '../../events/adjustments.ts';
import { priceOf } from '../../events/charges.ts';
import { exceptionsOf } from '../../events/exceptions.ts';
import { currentResult, paymentStreamPrefix, requestedIn } from '../../events/payment.ts';
import { attemptOf } from '../../events/payment-result.ts';
import { historyOf } from '../history/history.ts';

/** Amounts are in RM, times in Malaysian time. A payment that cannot be read has empty cells. */
const columns: Readonly<
  Record<string, (row: ReturnType<typeof factsOf>) => string | number | null | undefined>
> = {
  transaction_id: ({ events }) => events[0]?.streamName.slice(paymentStreamPrefix.length),
  reference: ({ payment }) => payment?.request.reference,
  merchant: ({ payment }) => payment?.request.merchant.code,
  channel: ({ payment }) => payment?.request.channel,
  status: ({ payment }) => payment?.status ?? 'unreadable',
  amount_rm: ({ price }) => price && formatSen(price.amountSen),
  charge_rm: ({ price }) => price && formatSen(price.feeSen),
  total_rm: ({ price }) => price && formatSen(price.totalSen),
  refunded_rm: ({ payment }) => payment && formatSen(adjustedSen(payment, 'refunded')),
  reversed_rm: ({ payment }) => payment && formatSen(adjustedSen(payment, 'reversed')),
  mode: ({ result, attempt }) => result?.mode || attempt?.mode,
  receipt_no: ({ payment }) => payment?.receipt?.receiptNo,
  requested_at: ({ payment }) => payment && toDateTime(payment.request.at),
  paid_at: ({ payment, result }) =>
    payment?.status === 'succeeded' && result ? toDateTime(result.paidAt ?? result.at) : null,
  last_event_at: ({ lastAt }) => lastAt && toDateTime(lastAt),
  late: ({ payment }) => payment && (payment.receipt?.late ? 'yes' : 'no'),
  exceptions: ({ exceptions }) => exceptions?.length,
  exceptions_open: ({ exceptions }) => exceptions?.filter(({ resolved }) => !resolved).length,
  events: ({ events }) => events.length,
  history: ({ verdict }) =>
    verdict.kind === 'whole' ? 'whole' : `${verdict.kind} at event ${verdict.revision}`,
};

/** The byte order mark tells spreadsheets that the file is UTF-8; without it they assume the machine's own code page. */
export const csvHead = (): string => write([Object.keys(columns)], { bom: true });

/** Rows for whole streams. A payment whose events were changed has a row too, and `history` says so. */
export function csvRows(streams: readonly (readonly RecordedEvent[])[]): string {
  return write(streams.map(factsOf).map((row) => Object.values(columns).map((cellOf) => cellOf(row))));
}

function write(records: (string | number | null | undefined)[][], { bom = false } = {}): string {
  // A cell that begins like a formula gets an apostrophe: a reference must not run in an auditor's spreadsheet.
  return stringify(records, { bom, escape_formulas: true, record_delimiter: 'windows' });
}

function factsOf(events: readonly RecordedEvent[]) {
  const { entries, verdict } = historyOf(events);
  const payment = requestedIn(entries.at(-1)?.state);
  const result = payment && currentResult(payment);
  const attempt = payment && attemptOf(payment, result?.sellerOrderNo ?? '');
  const exceptions = payment && exceptionsOf(payment);
  const lastAt = entries.findLast(({ at }) => at !== null)?.at ?? null;
  const price = payment && priceOf(payment);
  return { events, verdict, payment, result, attempt, price, lastAt, exceptions };
}
