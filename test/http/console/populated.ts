/** The console on a real Postgres, its tables filled from the app's own event store by the projections themselves. */
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { accessLog } from '../../../src/projections/access-log/projection.ts';
import { journal } from '../../../src/projections/journal/projection.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { createPaymentQueries } from '../../../src/projections/payments/queries.ts';
import { reconciliation } from '../../../src/projections/reconciliation/projection.ts';
import { unmatched } from '../../../src/projections/unmatched/projection.ts';
import { createDeliveryList } from '../../../src/to-do/delivery-list.ts';
import {
  caughtUp,
  connectOnce,
  type Database,
  emptyDatabase,
  type Postgres,
  run,
} from '../../projections/helpers.ts';
import { type Changes, startApp, type TestApp } from '../../support/app.ts';
import {
  chosen,
  duplicated,
  type RequestChanges,
  request,
  result,
  succeeded,
} from '../../support/payments.ts';
import { personalData } from '../../support/personal-data.ts';
import type { Owner } from '../../support/whole-file.ts';

const readModels = [payments, journal, unmatched, reconciliation, accessLog];

export type Populated = {
  app: TestApp;
  db: Knex;
  /** Waits until the tables hold everything in the event store. */
  caughtUp(): Promise<void>;
  /** Writes a payment's stream, with numbers that no other payment has unless it shares them; resolves to its id. */
  payment(
    events: readonly PaymentEvent[],
    over?: RequestChanges & { sharesNumbers?: boolean },
  ): Promise<string>;
};

const withTables = new Set<string>();

/** An empty database; from the second time on with the tables of the first, because making them takes longest. */
async function emptyTables(postgres: Postgres): Promise<Database> {
  if (!withTables.has(postgres.url)) {
    withTables.add(postgres.url);
    return await emptyDatabase(postgres);
  }
  const database = await connectOnce(postgres);
  await database.db.raw(
    `do $$ declare name text; begin
       for name in select format('%I.%I', schemaname, tablename) from pg_tables
         where schemaname !~ '^pg_|^public$|^information_schema$' loop
         execute 'delete from ' || name;
       end loop;
       update checkpoints set commit_position = null, prepare_position = null, last_event = null, events = 0,
         fault = null, parked = '[]';
     end $$`,
  );
  return database;
}

export async function startPopulated(
  t: Owner,
  postgres: Postgres,
  changes: Pick<Changes, 'config' | 'content'> = {},
): Promise<Populated> {
  const database = await emptyTables(postgres);
  const { db } = database;
  const { findOfMerchant } = createPaymentQueries(db, personalData, async () => {});
  const app = await startApp({ findOfMerchant, ...changes, console: { db } });
  const { eventStore } = app;
  const projections = [...readModels, createDeliveryList({ eventStore })];
  t.teardown(app.close);
  for (const projection of projections) run(t, projection, app, database);
  let serial = 0;
  return {
    app,
    db,
    caughtUp: () => caughtUp(projections, app, { db }),
    async payment(events, { sharesNumbers = false, ...over } = {}) {
      serial += 1;
      const transactionId = serial.toString(32).toUpperCase().padStart(26, '0');
      const first = { type: 'PaymentRequested', data: request({ ...over, transactionId }) } as const;
      const commandId = randomUUID();
      const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
      const chained = chain(
        [first, ...(sharesNumbers ? events : events.map(numbered(serial)))],
        genesisHash,
        cause,
      );
      await eventStore.append(paymentStream(transactionId), chained, 'no_stream');
      return transactionId;
    },
  };
}

/** From the second payment on, gateway transactions and receipts end with the number of the payment. */
const numbered =
  (serial: number) =>
  (event: PaymentEvent): PaymentEvent => {
    if (serial === 1 || !('result' in event.data)) return event;
    const own = (text: string) => (text === '' ? '' : `${text}-${serial}`);
    const gatewayTransactionId = own(event.data.result.gatewayTransactionId);
    const data = { ...event.data, result: { ...event.data.result, gatewayTransactionId } };
    return {
      ...event,
      data: 'receiptNo' in data ? { ...data, receiptNo: own(data.receiptNo) } : data,
    } as PaymentEvent;
  };

/** A payment that was paid twice, so that its second result waits for staff. */
export const paidTwice: readonly PaymentEvent[] = [
  chosen(1),
  succeeded(result(1, 'succeeded')),
  duplicated(result(1, 'succeeded', { gatewayTransactionId: 'P9' }), 'P1'),
];

export const abandoned: PaymentEvent = {
  type: 'CallbackAbandoned',
  data: {
    at: '2026-11-20T02:00:00.000Z',
    delivery: 'callback-1',
    attempt: 1,
    durationMs: 5,
    status: 500,
    reason: 'answered 500',
  },
};
