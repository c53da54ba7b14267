/** A journal fed with events directly, as its runner would, and payments to feed it with. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { prepare } from '@ledger/projections/runtime/checkpoints.ts';
import type { ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { schemaVersion } from '../../src/events/upcast.ts';
import { journal } from '../../src/projections/journal/projection.ts';
import { chosen, request, result, sen, succeeded } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { log, type Postgres } from './helpers.ts';

/** An empty journal; tests run one after the other. */
export async function emptyJournal(t: ExecutionContext, postgres: Postgres): Promise<Knex> {
  const db = connectPostgres({ url: postgres.url, log });
  t.teardown(() => db.destroy());
  await clearJournal(db);
  return db;
}

export async function clearJournal(db: Knex): Promise<void> {
  await db.raw('drop schema if exists journal cascade');
  await db.raw('drop table if exists checkpoints');
  await prepare(db, journal, journal.name);
}

/** In a transaction of its own, with nothing of the runner's. */
export async function feed(db: Knex, events: readonly RecordedEvent[]): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local search_path to journal');
    await journal.project(events, trx, personalData);
  });
}

/** A stream as it would be read from the log. */
export function recorded(transactionId: string, events: readonly PaymentEvent[]): RecordedEvent[] {
  return events.map((event, revision) => ({
    ...event,
    id: '',
    metadata: { schemaVersion },
    streamName: `payment-${transactionId}`,
    revision,
    position: { commit: 0n, prepare: 0n },
    created: new Date(),
  }));
}

/** A payment of the council that was paid, of a number of its own. */
export function paid({
  at,
  paidAt,
  no = 1,
  chargeSen = 0,
  mode = 'fpx',
}: {
  at: string;
  paidAt?: string | null;
  no?: number;
  chargeSen?: number;
  mode?: 'fpx' | 'cc';
}): PaymentEvent[] {
  const amountSen = sen(1_000 + no);
  const reported = result(1, 'succeeded', {
    mode,
    amountSen: sen(amountSen + chargeSen),
    paidAt: paidAt ?? null,
  });
  return [
    {
      type: 'PaymentRequested',
      data: request({ at: '2026-11-01T00:00:00.000Z', amountSen, reference: `INV-${no}` }),
    },
    chosen(1, { chargeSen: sen(chargeSen), mode }),
    succeeded(reported, { at, receiptNo: `R-${no}` }),
  ];
}
