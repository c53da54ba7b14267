/**
 * Keeps the keys of erased personal data destroyed. A failover or a restore of PostgreSQL can bring back an older copy, with
 * such keys and without the note of an erasure under way. The checkpoint of this list is in the same copy, so the erasures
 * since then are read again, noted again and their keys destroyed again. Decision 66.
 */
import type { Log } from '@ledger/kernel/log.ts';
import type { Erasures, KeyStore } from '@ledger/personal-data/key-store.ts';
import { KeysUnavailable } from '@ledger/personal-data/sealed.ts';
import { rowsWithin } from '@ledger/postgres/error-codes.ts';
import type { Followed, Projection } from '@ledger/projections/runtime/projection.ts';
import type { Knex } from 'knex';
import { paymentIdOf, paymentStreamPrefix } from '../events/payment.ts';
import { readErasure } from '../events/personal-data.ts';

export const erasedKeysList = {
  name: 'erased_keys',
  version: 1,
  isNeverRebuilt: true,
  eventTypes: ['PersonalDataErased'],
} as const satisfies Followed;

/** The table `returned` says when keys were back, and how many. */
export function createErasedKeys(dependencies: {
  store: Pick<KeyStore, 'destroy' | 'freeOldVersions'> & { erasures: Pick<Erasures, 'begin'> };
  log: Pick<Log, 'warn'>;
}): Projection {
  const { store, log } = dependencies;
  return {
    ...erasedKeysList,
    maxEvents: 500,
    async createTables(db) {
      await db.raw('create table returned (at timestamptz not null default now(), keys integer not null)');
    },
    async project(events, db) {
      const named = events.flatMap((event) => readErasure(event).data.keys);
      const ofPayments = events.filter(({ streamName }) => streamName.startsWith(paymentStreamPrefix));
      // From these notes the next retention pass removes emails that were on their way into the outbox.
      const begun = ofPayments.map((event) => {
        const subject = paymentIdOf(event.streamName);
        return { subject, reason: readErasure(event).data.reason, actor: 'reactor:retention' };
      });
      // With the keys: once they are destroyed, nobody can count them any more.
      const record = async (keys: number, trx: Knex.Transaction) => {
        log.warn({ keys }, 'keys of erased personal data were back in PostgreSQL, and are destroyed again');
        await trx.raw('insert into erased_keys.returned (keys) values (?)', [keys]);
      };
      // Whatever keeps them from being destroyed now is tried again: no erasure is passed over.
      const destroyed = store.erasures.begin(begun).then(() => store.destroy(named, record));
      const keys = await destroyed.catch((cause: unknown) => {
        if (cause instanceof KeysUnavailable) throw cause;
        throw new KeysUnavailable('Keys of erased personal data cannot be destroyed now', { cause });
      });
      if (keys === 0) return;
      // Until the transaction ends, PostgreSQL keeps the versions of the blocks that still have the keys. What is given may
      // be a savepoint of it.
      let whole: Knex.Transaction = db;
      while (whole.parentTransaction) whole = whole.parentTransaction;
      void whole.executionPromise.catch(() => undefined).then(store.freeOldVersions);
    },
  };
}

/** How many keys were back so far, and when the last; null if none was. Rejects when Postgres is down. */
export async function returnedKeys(db: Knex): Promise<{ keys: number; at: Date } | null> {
  const sum = 'select sum(keys)::int as keys, max(at) as at from erased_keys.returned having count(*) > 0';
  return (await rowsWithin<{ keys: number; at: Date }>(2_000, db, sum))[0] ?? null;
}
