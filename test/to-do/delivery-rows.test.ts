// The to-do list: rows that say what the fold says, and claims that never get in each other's way.
import { once } from 'node:events';
import test from 'ava';
import fc from 'fast-check';
import type { Knex } from 'knex';
import type { PaymentEvent } from '../../src/events/payment.ts';
import { evolve, noPayment } from '../../src/events/payment.ts';
import { type Claim, createDeliveryQueue } from '../../src/to-do/delivery-queue.ts';
import { attemptsOf, orderingKeyOf, settleDeliveries } from '../../src/to-do/delivery-rows.ts';
import { foldStream } from '../../src/to-do/known-deliveries.ts';
import { emptyTables, feedToDo } from '../projections/filled.ts';
import { emptyDatabase } from '../projections/helpers.ts';
import { history } from '../projections/histories.ts';
import { payer as aminah, applied, chosen, request, result, succeeded } from '../support/payments.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';

const postgres = await createDatabase();

const now = new Date('2026-11-20T01:05:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);

async function emptyList(): Promise<{ db: Knex }> {
  return { db: await emptyTables(postgres) };
}

const write = feedToDo;

const rows = (db: Knex) => db('reactor_deliveries.deliveries').orderBy(['transaction_id', 'ordering_key']);

const payer = { ...aminah, email: '' };
function paid(callbackUrl: string, ...more: PaymentEvent[]): PaymentEvent[] {
  return paidTo(request().merchant.code, callbackUrl, ...more);
}
function paidTo(code: string, callbackUrl: string, ...more: PaymentEvent[]): PaymentEvent[] {
  const data = request({ callbackUrl, payer, merchant: { ...request().merchant, code } });
  return [{ type: 'PaymentRequested', data }, chosen(1), succeeded(result(1, 'succeeded')), ...more];
}

const claim = (over: Partial<Claim> = {}): Claim => ({
  kind: 'callback',
  now,
  leaseUntil: later(60_000),
  holder: 'one',
  limit: 100,
  limitPerReceiver: 100,
  receiverLimits: new Map(),
  limitPerMerchant: 100,
  merchantLimits: new Map(),
  ...over,
});

const failed = (attempt: number, nextAttemptAt: Date): PaymentEvent => ({
  type: 'CallbackAttemptFailed',
  data: {
    at: now.toISOString(),
    delivery: 'callback-1',
    attempt,
    durationMs: 1,
    status: 500,
    reason: 'answered 500',
    nextAttemptAt: nextAttemptAt.toISOString(),
  },
});

test.serial('whatever the history, each row is the newest delivery of its ordering key', async (t) => {
  const { db } = await emptyList();
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      const id = `P${serial++}`;
      for (let length = 1; length <= events.length; length += 1) await write(db, id, events.slice(0, length));
      const state = events.reduce(evolve, noPayment);
      if (state.status === 'none') return;
      const expected = new Map(state.deliveries.map((delivery) => [orderingKeyOf(delivery), delivery]));
      const found = await rows(db).where('transaction_id', id);
      t.deepEqual(
        found.map(({ ordering_key, delivery, state: is, due_at, attempts, called_at, settled_at }) => [
          ordering_key,
          delivery,
          is,
          due_at.toJSON(),
          attempts,
          called_at.toJSON(),
          settled_at?.toJSON() ?? null,
        ]),
        [...expected]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([orderingKey, { key, state: is, dueAt, calledAt, settledAt }]) => [
            orderingKey,
            key,
            is,
            dueAt,
            attemptsOf(orderingKey, state.deliveries),
            calledAt,
            settledAt,
          ]),
      );
    }),
    { numRuns: runs(60) },
  );
});

/** With a callback to settle. */
const paidHistory = history.map(([_, ...events]) => [...paid('https://a.example/'), ...events]);

test.serial(
  'rows that are settled ahead of the list are those it would make, and it leaves them',
  async (t) => {
    const { db } = await emptyList();
    let serial = 0;
    const listOf = async (id: string) => {
      const known = await db('reactor_deliveries.payments').where('transaction_id', id);
      const text = JSON.stringify([known, await rows(db).where('transaction_id', id)]);
      return text.replaceAll(id, 'P');
    };
    const versionsOf = (id: string) =>
      db('reactor_deliveries.deliveries').where('transaction_id', id).orderBy('ordering_key').pluck('xmin');
    await fc.assert(
      fc.asyncProperty(paidHistory, fc.nat(), fc.nat(), async (events, listed, settled) => {
        const [ahead, usual] = [`A${serial++}`, `U${serial}`];
        const upTo = settled % (events.length + 1);
        await write(db, ahead, events.slice(0, listed % (events.length + 1)));
        await db('reactor_deliveries.deliveries').where('transaction_id', ahead).update({ leased_by: 'one' });
        const [held] = await rows(db).where('transaction_id', ahead);
        const stream = events.slice(0, upTo).map((event, revision) => ({ event, revision }));
        const lease = { orderingKey: held?.ordering_key ?? '', holder: 'one' };
        await settleDeliveries(foldStream(ahead, stream), { ...lease, holder: 'another' }, db);
        await settleDeliveries(foldStream(ahead, stream), lease, db);
        await db('reactor_deliveries.deliveries').update({ leased_by: null });
        const length = Math.max(upTo, listed % (events.length + 1));
        await write(db, usual, events.slice(0, held ? length : listed % (events.length + 1)));
        t.is(await listOf(ahead), await listOf(usual));
        const versions = await versionsOf(ahead);
        await write(db, ahead, events.slice(0, held ? length : 0));
        t.deepEqual(await versionsOf(ahead), versions, 'nothing is left to do');
      }),
      { numRuns: runs(60) },
    );
  },
);

test.serial('a first attempt is due at once, although its event is from a clock that is ahead', async (t) => {
  const { db } = await emptyList();
  const due: [string, number, Date, Date][] = [
    ['first', 0, later(4_000), later(4_000)],
    // The row counts the attempts at the callback before, too.
    ['first of the second callback', 3, later(4_500), later(4_500)],
    ['again', 1, later(4_000), now],
    ['first of a wrong clock', 0, later(60_000), later(60_000)],
  ];
  for (const [id, attempts, dueAt, calledAt] of due)
    await db.raw(
      `insert into reactor_deliveries.deliveries (transaction_id, ordering_key, delivery, kind, receiver, merchant_code,
         state, due_at, attempts, called_at)
       values (?, 'callback', 'callback-1', 'callback', 'https://r.example', 'm', 'due', ?, ?, ?)`,
      [id, dueAt, attempts, calledAt],
    );
  const queue = createDeliveryQueue(db);
  t.deepEqual((await queue.claim(claim())).map(({ transactionId }) => transactionId).toSorted(), [
    'first',
    'first of the second callback',
  ]);
  const [again] = await queue.claim(claim({ now: later(4_000) }));
  t.is(again?.transactionId, 'again');
});

test.serial('claims made at once never get the same row, and together get all', async (t) => {
  const { db } = await emptyList();
  for (let index = 0; index < 60; index += 1)
    await write(db, `P${index}`, paid(`https://m${index % 7}.example/`));
  const queue = createDeliveryQueue(db);
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, index) => queue.claim(claim({ holder: `h${index}`, limit: 20 }))),
  );
  const got = claims.flat().map(({ transactionId }) => transactionId);
  t.is(new Set(got).size, got.length);
  const rest = await queue.claim(claim({ holder: 'last' }));
  t.is(got.length + rest.length, 60);
  t.deepEqual(await queue.claim(claim()), []);
});

test.serial(
  'each receiver has its part, one that is held back none, and the longest due go first',
  async (t) => {
    const { db } = await emptyList();
    const queue = createDeliveryQueue(db);
    for (const host of ['a', 'b', 'c'])
      for (let index = 0; index < 5; index += 1) {
        const dueAt = later(-index * 1000);
        await write(db, `${host}${index}`, paid(`https://${host}.example/x`, failed(1, dueAt)));
      }
    const { code } = request().merchant;
    const receiverLimits = new Map([
      [`${code} https://a.example`, 0],
      [`${code} https://b.example`, 1],
      ['another https://c.example', 0],
    ]);
    const claimed = await queue.claim(claim({ limitPerReceiver: 3, receiverLimits }));
    t.deepEqual(claimed.map(({ transactionId }) => transactionId).toSorted(), ['b4', 'c2', 'c3', 'c4']);
    t.like(
      claimed.find(({ transactionId }) => transactionId === 'b4'),
      {
        receiver: 'https://b.example',
        orderingKey: 'callback',
        attempts: 1,
        interrupted: null,
      },
    );
  },
);

test.serial(
  'a merchant has its part, whatever receivers it names, and takes no place of others there',
  async (t) => {
    const { db } = await emptyList();
    const queue = createDeliveryQueue(db);
    for (let index = 0; index < 10; index += 1) {
      await write(db, `M${index}`, paidTo('many', `https://m${index}.example/`, failed(1, later(-2000))));
      await write(db, `S${index}`, paidTo('many', 'https://shared.example/', failed(1, later(-3000))));
    }
    for (let index = 0; index < 4; index += 1)
      await write(db, `F${index}`, paidTo('few', 'https://shared.example/', failed(1, later(-1000))));
    const claimed = await queue.claim(claim({ limitPerMerchant: 4, limitPerReceiver: 6 }));
    const ids = claimed.map(({ transactionId }) => transactionId.slice(0, 1)).toSorted();
    t.is(ids.join(''), 'FFFSSS', 'in turn, although those of one have been due longer');
    const merchantLimits = new Map([['many', 0]]);
    const [rest, ...more] = await queue.claim(claim({ merchantLimits }));
    t.like(rest, { merchantCode: 'few' });
    t.deepEqual(more, []);
  },
);

test.serial('a merchant does not wait for the end of the queues of others', async (t) => {
  const { db } = await emptyList();
  const queue = createDeliveryQueue(db);
  for (const merchant of ['A', 'B'])
    await waiting(db, { what: merchant, count: 50, receiver: 'the only one', merchant });
  const own = { limitPerReceiver: 8, limitPerMerchant: 32 };
  const merchants = async (over: Partial<Claim>) =>
    (await queue.claim(claim({ ...own, ...over }))).map(({ merchantCode }) => merchantCode).toSorted();
  t.deepEqual(await merchants({ limit: 4 }), ['A', 'A', 'B', 'B']);
  await write(db, 'N', paidTo('new', 'https://new.example/', failed(1, now)));
  await waiting(db, { what: 'L', count: 1, receiver: 'the only one', merchant: 'late' });
  const merchantLimits = new Map([
    ['A', 30],
    ['B', 30],
  ]);
  t.deepEqual(await merchants({ merchantLimits, limit: 2 }), ['late', 'new']);
});

/** Rows `<what>1`, `<what>2`, … that have been due for an hour, each a millisecond longer than the next. */
async function waiting(db: Knex, rows: { what: string; count: number; receiver: string; merchant: string }) {
  await db.raw(
    `insert into reactor_deliveries.deliveries (transaction_id, ordering_key, delivery, kind, receiver, merchant_code,
       state, due_at, attempts, called_at)
     select :what || n, 'callback', 'callback-1', 'callback', replace(:receiver, '#', n::text), :merchant, 'due',
       cast(:now as timestamptz) - interval '1 hour' + n * interval '1 ms', 0, :now
     from generate_series(1, :count) n`,
    { ...rows, now },
  );
}

test.serial(
  'what a claim reads depends on merchants and receivers, not on how much is waiting',
  async (t) => {
    const { db } = await emptyList();
    const queue = createDeliveryQueue(db);
    const limits = { limit: 256, limitPerReceiver: 8, limitPerMerchant: 32 };
    const blocksOf = async (over: Partial<Claim>) => {
      const asked = once(db, 'query');
      const claimed = await queue.claim(claim({ ...limits, ...over }));
      const [{ sql, bindings }] = await asked;
      await db('reactor_deliveries.deliveries')
        .whereNotNull('leased_by')
        .update({ lease_until: null, leased_by: null });
      const trx = await db.transaction();
      const text = `explain (analyze, buffers, format json) ${sql.replace(/\$\d+/g, '?')}`;
      const { Plan: plan } = (await trx.raw(text, bindings)).rows[0]['QUERY PLAN'][0];
      await trx.rollback();
      return { claimed, blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
    };
    await waiting(db, { what: 'S', count: 5, receiver: 'https://small.example', merchant: 'small' });
    const merchantLimits = new Map([
      ['big', 0],
      ['many', 0],
    ]);
    const read = { small: [] as number[], all: [] as number[] };
    for (const what of ['A', 'B']) {
      await waiting(db, { what, count: 10_000, receiver: 'https://big.example', merchant: 'big' });
      await waiting(db, {
        what: `R${what}`,
        count: 10_000,
        receiver: `https://${what}#.example`,
        merchant: 'many',
      });
      await db.raw('vacuum analyze reactor_deliveries.deliveries');
      const small = await blocksOf({ merchantLimits });
      t.is(small.claimed.length, 5);
      read.small.push(small.blocks);
      const all = await blocksOf({});
      t.is(all.claimed.length, 5 + 8 + 32);
      read.all.push(all.blocks);
    }
    for (const [once = 0, twice = 0] of Object.values(read))
      t.true(twice < 1.3 * once, `${once} blocks, and ${twice} when twice as much waits`);
    t.log(read);
  },
);

test.serial(
  'a plan that was made on an empty list and is kept still uses indexes when the list is long',
  async (t) => {
    const { db } = await emptyList();
    const trx = await db.transaction();
    t.teardown(() => trx.rollback());
    // As in the pool of the reactors.
    await trx.raw('set local enable_seqscan = off');
    const queue = createDeliveryQueue(trx);
    for (let use = 0; use < 8; use += 1) await queue.claim(claim());
    await waiting(trx, { what: 'L', count: 5_000, receiver: 'https://r#.example', merchant: 'long' });
    t.not((await queue.claim(claim())).length, 0);
    const { rows } = await trx.raw(`
    select (select sum(generic_plans)::integer from pg_prepared_statements where statement like '%senders as%') as kept,
      seq_tup_read::integer as read from pg_stat_xact_user_tables
    where schemaname = 'reactor_deliveries' and relname = 'deliveries'`);
    t.log(rows[0]);
    t.true(rows[0].kept > 0);
    t.is(rows[0].read, 0);
  },
);

test.serial(
  'of a merchant with many receivers a paused one hides no other, however long its deliveries have waited',
  async (t) => {
    const { db } = await emptyList();
    const queue = createDeliveryQueue(db);
    await waiting(db, { what: 'P', count: 500, receiver: 'https://paused.example', merchant: 'many' });
    await waiting(db, { what: 'R', count: 200, receiver: 'https://r#.example', merchant: 'many' });
    const receiverLimits = new Map([['many https://paused.example', 0]]);
    const ids = new Set<string>();
    for (let round = 0; round < 8; round += 1)
      for (const { transactionId } of await queue.claim(claim({ receiverLimits, limitPerMerchant: 32 })))
        ids.add(transactionId);
    t.is(ids.size, 200);
    t.false([...ids].some((id) => id.startsWith('P')));
  },
);

test.serial('what is not due yet, settled, or of another kind is left', async (t) => {
  const { db } = await emptyList();
  const queue = createDeliveryQueue(db);
  await write(db, 'later', paid('https://a.example/', failed(1, later(1))));
  const { at, delivery, attempt, durationMs } = {
    at: now.toISOString(),
    delivery: 'callback-1',
    attempt: 1,
    durationMs: 1,
  };
  await write(
    db,
    'done',
    paid('https://a.example/', {
      type: 'CallbackDelivered',
      data: { at, delivery, attempt, durationMs, status: 200 },
    }),
  );
  t.deepEqual(await queue.claim(claim()), []);
  t.deepEqual(await queue.claim(claim({ kind: 'email', now: later(1) })), []);
  t.is((await queue.claim(claim({ now: later(1) }))).length, 1);
});

test.serial('a lease that ended is taken over and says so; one that was given back does not', async (t) => {
  const { db } = await emptyList();
  const queue = createDeliveryQueue(db);
  await write(db, 'P', paid('https://a.example/'));
  const [first] = await queue.claim(claim());
  t.is(first?.interrupted, null);
  t.deepEqual(await queue.claim(claim({ now: later(59_999), holder: 'two' })), []);
  const [second] = await queue.claim(
    claim({ now: later(60_000), leaseUntil: later(120_000), holder: 'two' }),
  );
  t.is(second?.interrupted, 'callback-1');
  if (!first || !second) return;
  await queue.postpone(first, later(0));
  t.deepEqual(await queue.claim(claim({ now: later(61_000) })), [], 'who lost the lease cannot give it back');
  await queue.postpone(second, later(65_000));
  t.deepEqual(await queue.claim(claim({ now: later(64_999) })), []);
  const [third] = await queue.claim(claim({ now: later(65_000) }));
  t.is(third?.interrupted, null);
});

test.serial('what was given back for later can be taken at once when it has changed', async (t) => {
  const { db } = await emptyList();
  const queue = createDeliveryQueue(db);
  const requested: PaymentEvent = { type: 'PaymentRequested', data: request({ payer }) };
  const pending = [requested, chosen(1), applied(result(1, 'pending'))];
  const both = [...pending, succeeded(result(1, 'succeeded'))];
  for (const [id, steps] of Object.entries({
    changedBefore: ['write', 'give'],
    changedAfter: ['give', 'write'],
  })) {
    await write(db, id, pending);
    const [behind] = await queue.claim(claim());
    if (!behind) return t.fail();
    for (const step of steps)
      await (step === 'write' ? write(db, id, both) : queue.postpone(behind, later(5_000)));
    t.like(
      (await queue.claim(claim({ holder: 'two' })))[0],
      { delivery: 'callback-2', interrupted: null },
      id,
    );
  }
});

test.serial('a lease outlives what happens to the payment meanwhile, and ends with its try', async (t) => {
  const { db } = await emptyList();
  const queue = createDeliveryQueue(db);
  const requested: PaymentEvent = { type: 'PaymentRequested', data: request({ payer }) };
  const pending = [requested, chosen(1), applied(result(1, 'pending'))];
  await write(db, 'P', pending);
  t.is((await queue.claim(claim())).length, 1);
  await write(db, 'P', [...pending, succeeded(result(1, 'succeeded'))]);
  t.deepEqual(await queue.claim(claim()), [], 'the newer callback waits for the older');
  const ended = { now: later(60_000), leaseUntil: later(61_000) };
  t.like((await queue.claim(claim(ended)))[0], { delivery: 'callback-2', interrupted: 'callback-1' });
  t.like(
    (await queue.claim(claim({ now: later(61_000) })))[0],
    { interrupted: 'callback-1' },
    'until it is recorded',
  );
  await write(db, 'P', [...pending, succeeded(result(1, 'succeeded')), failed(1, later(1))]);
  const [claimed] = await queue.claim(claim());
  t.like(claimed, { orderingKey: 'callback', attempts: 1, interrupted: null });
});

test.serial('before the projection ever ran nothing is due', async (t) => {
  const { db } = await emptyDatabase(postgres);
  t.deepEqual(await createDeliveryQueue(db).claim(claim()), []);
});

test.serial('a receiver gets its delivery while hundreds of others of its merchant are paused', async (t) => {
  const { db } = await emptyList();
  await write(db, 'P', paid('https://z.example/callback'));
  await db.raw(
    `insert into reactor_deliveries.deliveries (transaction_id, ordering_key, delivery, kind, receiver,
       merchant_code, state, attempts, due_at, called_at)
     select 'H' || number, ordering_key, delivery, kind, 'https://' || number % 300 || '.example',
       merchant_code, state, 1, due_at - interval '1 hour', called_at - interval '2 hours'
     from reactor_deliveries.deliveries cross join generate_series(1, 600) as number`,
  );
  const { code } = request().merchant;
  const paused = Array.from(
    { length: 300 },
    (_, number) => [`${code} https://${number}.example`, 0] as const,
  );
  const claimed = await createDeliveryQueue(db).claim(
    claim({ limitPerMerchant: 32, receiverLimits: new Map(paused) }),
  );
  t.deepEqual(
    claimed.map(({ transactionId }) => transactionId),
    ['P'],
  );
});
