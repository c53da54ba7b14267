/** Imports on real stores: appends payments, runs the read models, compares a file. */
import { randomUUID } from 'node:crypto';
import type { BadRow } from '@ledger/kernel/csv-rows.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { ExecutionContext } from 'ava';
import type { PaymentEvent } from '../../src/events/payment.ts';
import type { DiscrepancyFound } from '../../src/events/reconciliation.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { reconciliation } from '../../src/projections/reconciliation/projection.ts';
import { reconcile } from '../../src/reconciliation/reconcile.ts';
import {
  append,
  type Database,
  type Postgres,
  type RunningStore,
  run,
  startStores,
} from '../projections/helpers.ts';
import { request } from '../support/payments.ts';

export const key = 'a key of this test';

export type Ledger = Awaited<ReturnType<typeof startLedger>>;

/** Empty stores, and the read models that an import needs. */
export async function startLedger(t: ExecutionContext, postgres: Postgres) {
  const { database, store } = await startStores(t, postgres);
  run(t, payments, store, database);
  run(t, reconciliation, store, database);
  return {
    database,
    store,
    /** A payment of one event after the other. */
    pay: (id: string, events: readonly PaymentEvent[], merchantCode = 'council') =>
      append(store.eventStore, id, [
        {
          type: 'PaymentRequested',
          data: request({ transactionId: id, merchant: { code: merchantCode, id: 7, name: 'M' } }),
        },
        ...events,
      ]),
    compare: (csv: string | Uint8Array, options: Options = {}) => compare(store, database, csv, options),
  };
}

/** 7 is the agency's id. */
export const merchantCodeOf = (named: string) => (named === '7' ? 'council' : named);

type Options = { from?: string; to?: string; madeAt?: string; dryRun?: boolean; waitMs?: number };

/** Imports a file; `found` has the discrepancies in the order in which they were reported. */
async function compare(
  { eventStore }: RunningStore,
  { db }: Database,
  csv: string | Uint8Array,
  { from, to, madeAt, dryRun = false, waitMs = 20_000 }: Options,
) {
  const badRows: BadRow[] = [];
  const found: (DiscrepancyFound & { id: string })[] = [];
  const bytes = typeof csv === 'string' ? Buffer.from(csv) : csv;
  const summary = await reconcile(
    { eventStore, db, transactionIdKey: key, runtime: systemRuntime, merchantCodeOf },
    {
      file: pieces(bytes),
      period: { from: from ?? null, to: to ?? null },
      madeAt: madeAt ?? null,
      dryRun,
      waitMs,
      newCause: () => ({
        commandId: randomUUID(),
        correlationId: randomUUID(),
        causationId: randomUUID(),
        actor: 'staff:test',
      }),
      onBadRow: (row) => badRows.push(row),
      onDiscrepancy: (id, discrepancy) => found.push({ id, ...discrepancy }),
    },
  );
  return { summary, badRows, found };
}

/** As a socket delivers it: split anywhere, also within characters. */
export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 4_093) yield bytes.subarray(start, start + 4_093);
}

export const idOf = (number: number) => String(number).padStart(26, '0');

const gatewayColumns = [
  'TRANS_ID',
  'PAYMENT_TRANS_ID',
  'MERCHANT_ORDER_NO',
  'STATUS',
  'AMOUNT',
  'PAYMENT_MODE',
  'PAYMENT_DATETIME',
  'RECEIPT_NO',
  'MERCHANT_CODE',
  'CURRENCY',
];

export type GatewayRow = Partial<Record<(typeof gatewayColumns)[number], string>>;

/** The gateway's settlement; a row names what matters to the test. */
export function gatewayCsv(rows: readonly GatewayRow[]): string {
  const usual: GatewayRow = {
    STATUS: '1',
    AMOUNT: '120.50',
    PAYMENT_DATETIME: '2026-11-20 09:04:30',
    MERCHANT_CODE: 'council',
  };
  const lines = rows.map((row) => gatewayColumns.map((name) => ({ ...usual, ...row })[name] ?? '').join(','));
  return [gatewayColumns.join(','), ...lines, ''].join('\r\n');
}
