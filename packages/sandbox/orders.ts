/**
 * The gateway's books: orders handed over, results decided, posts made; in one SQLite file. Every write is on the
 * disk before it returns, so an order that was shown to a payer outlives any crash.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { HandOver } from './hand-over.ts';
import {
  type Charge,
  consequenceOf,
  newPaymentTransId,
  type OrderState,
  type Outcome,
  outcomesFor,
} from './outcomes.ts';

export type Order = HandOver & Readonly<{ paymentTransId: string; state: OrderState; createdAtMs: number }>;

/** As much of an order number as may be logged: it holds a transaction id, and whoever has that has the receipt. */
export function shortOrderNo(orderNo: string): string {
  return orderNo.replace(/^(.{6}).+?(-\d+)?$/, '$1…$2');
}

/** Who carries a result to the service; a result that nobody carries is lost on the way. */
export type Delivery = 'both' | 'browser' | 'server' | 'none';

export type Result = Charge &
  Readonly<{
    id: number;
    orderNo: string;
    decidedAtMs: number;
    /** 1 when the payer's browser brings this result. */
    byBrowser: 0 | 1;
    /** `none`: the browser alone brings it. `lost`: nobody does. `due` until the service took it, or refused it once and for all. */
    serverPost: 'none' | 'lost' | 'due' | 'delivered' | 'refused' | 'given-up';
    notBeforeMs: number;
  }>;

/** One try of the server to post a result, and what came back. */
export type Post = Readonly<{ resultId: number; atMs: number; answer: string }>;

export type Orders = ReturnType<typeof openOrders>;

const schema = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists orders (
    orderNo text primary key, merchantCode text not null, transId text not null, amountSen integer not null,
    paymentMode text not null, bankCode text not null, description text not null, buyerName text not null,
    buyerEmail text not null, responseUrl text not null, paymentTransId text not null unique,
    state text not null, createdAtMs integer not null
  ) strict;
  create index if not exists ordersByTransaction on orders (transId);
  create table if not exists transaksiIds (transId text primary key, transaksiId text not null) strict;
  create index if not exists transaksiIdsByValue on transaksiIds (transaksiId);
  create table if not exists results (
    id integer primary key, orderNo text not null references orders, status text not null,
    amountSen integer not null, paymentTransId text not null, decidedAtMs integer not null,
    byBrowser integer not null, serverPost text not null, notBeforeMs integer not null,
    unique (paymentTransId, status)
  ) strict;
  create index if not exists resultsByOrder on results (orderNo);
  create table if not exists posts (
    resultId integer not null references results, atMs integer not null, answer text not null
  ) strict;
  create index if not exists postsByResult on posts (resultId);
`;

/** Opens the books, making the file and its folder when there is none. */
export function openOrders(file: string) {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(schema);
  // The casts below are for rows of our own making, from the strict tables above.
  const all = <Row>(sql: string, ...values: (string | number)[]) =>
    database.prepare(sql).all(...values) as unknown as Row[];
  const run = (sql: string, ...values: (string | number)[]) => database.prepare(sql).run(...values);

  function find(orderNo: string): Order | undefined {
    return all<Order>('select * from orders where orderNo = ?', orderNo)[0];
  }

  return {
    find,

    /** Keeps a new order; the same hand-over again is the same order, another under its number is `different`. */
    add(handOver: HandOver): 'kept' | 'different' {
      const existing = find(handOver.orderNo);
      if (existing)
        return isDeepStrictEqual({ ...existing, ...handOver }, { ...existing }) ? 'kept' : 'different';
      database
        .prepare(
          `insert into orders values (:orderNo, :merchantCode, :transId, :amountSen, :paymentMode, :bankCode,
            :description, :buyerName, :buyerEmail, :responseUrl, :paymentTransId, 'open', :createdAtMs)`,
        )
        .run({ ...handOver, paymentTransId: newPaymentTransId(), createdAtMs: Date.now() });
      return 'kept';
    },

    recent(limit: number): Order[] {
      return all<Order>('select * from orders order by createdAtMs desc, rowid desc limit ?', limit);
    },

    /** The orders of one transaction of the service, the oldest first. */
    ofTransaction(transId: string): Order[] {
      return all<Order>('select * from orders where transId = ? order by createdAtMs, rowid', transId);
    },

    /** Keeps what the land registry calls a transaction. */
    nameTransaction(transId: string, transaksiId: string): void {
      run('insert or replace into transaksiIds values (?, ?)', transId, transaksiId);
    },

    /** The orders of the transactions that the land registry calls so. */
    ofTransaksiId(transaksiId: string): Order[] {
      return all<Order>(
        `select * from orders where transId in (select transId from transaksiIds where transaksiId = ?)
          order by createdAtMs, rowid`,
        transaksiId,
      );
    },

    /** The order that a payment with this number belongs to, in a list. */
    ofPayment(paymentTransId: string): Order[] {
      return all<Order>(
        `select * from orders where paymentTransId = ?
          or orderNo in (select orderNo from results where paymentTransId = ?)`,
        paymentTransId,
        paymentTransId,
      );
    },

    /**
     * Decides an order, once: false when its state no longer allows the outcome (a second click, another window).
     * The browser brings the first result only, as a payer returns only once; the server brings every other.
     */
    decide(orderNo: string, outcome: Outcome, delivery: Delivery, delayMs: number): boolean {
      const order = find(orderNo);
      if (!order || !outcomesFor(order.state).includes(outcome)) return false;
      const { state, charges } = consequenceOf(outcome, order);
      const now = Date.now();
      const insert = database.prepare(
        `insert into results values (null, :orderNo, :status, :amountSen, :paymentTransId, :decidedAtMs,
          :byBrowser, :serverPost, :notBeforeMs)`,
      );
      database.exec('begin immediate');
      try {
        run('update orders set state = ? where orderNo = ?', state, orderNo);
        run('update results set byBrowser = 0 where orderNo = ?', orderNo);
        for (const [index, charge] of charges.entries()) {
          insert.run({
            ...charge,
            orderNo,
            decidedAtMs: now,
            byBrowser: index === 0 && (delivery === 'both' || delivery === 'browser') ? 1 : 0,
            serverPost: delivery === 'none' ? 'lost' : index === 0 && delivery === 'browser' ? 'none' : 'due',
            notBeforeMs: now + delayMs,
          });
        }
        database.exec('commit');
      } catch (error) {
        database.exec('rollback');
        throw error;
      }
      return true;
    },

    /** The latest result of each charge of an order. */
    charges(orderNo: string): Result[] {
      const latest = new Map(this.results(orderNo).map((result) => [result.paymentTransId, result]));
      return [...latest.values()];
    },

    results(orderNo: string): Result[] {
      return all<Result>('select * from results where orderNo = ? order by id', orderNo);
    },

    posts(orderNo: string): Post[] {
      return all<Post>(
        'select posts.* from posts join results on results.id = resultId where orderNo = ? order by posts.rowid',
        orderNo,
      );
    },

    /** The result the payer's browser is to bring, if any. */
    browserResult(orderNo: string): Result | undefined {
      return all<Result>('select * from results where orderNo = ? and byBrowser = 1', orderNo)[0];
    },

    /** The oldest result of an order that the server still has to post. */
    nextDue(orderNo: string): Result | undefined {
      return all<Result>(
        "select * from results where orderNo = ? and serverPost = 'due' order by id limit 1",
        orderNo,
      )[0];
    },

    /** The orders with results that an earlier process left unposted. */
    withDueResults(): Order[] {
      return all<Order>(
        "select * from orders where orderNo in (select orderNo from results where serverPost = 'due')",
      );
    },

    recordPost(post: Post, serverPost: Result['serverPost']): void {
      run('insert into posts values (?, ?, ?)', post.resultId, post.atMs, post.answer);
      run('update results set serverPost = ? where id = ?', serverPost, post.resultId);
    },

    close(): void {
      database.close();
    },
  };
}
