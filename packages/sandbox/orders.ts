/**
 * The gateway's data: orders, results, and posts to the service. Every write is on disk before it returns, so that an
 * order shown to a payer survives any crash.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Database } from './database.ts';
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

/** An order number as it may be logged. The full one holds a transaction id, which gives access to the receipt. */
export function shortOrderNo(orderNo: string): string {
  return orderNo.replace(/^(.{6}).+?(-\d+)?$/, '$1…$2');
}

/** What brings a result to the service; with `none` it is lost. */
export type Delivery = 'both' | 'browser' | 'server' | 'none';

export type Result = Charge &
  Readonly<{
    id: number;
    orderNo: string;
    decidedAtMs: number;
    /** 1 if the payer's browser brings this result. */
    byBrowser: 0 | 1;
    /** `none`: only the browser brings it. `lost`: nobody does. `due`: until the service has accepted or refused it. */
    serverPost: 'none' | 'lost' | 'due' | 'delivered' | 'refused' | 'given-up';
    notBeforeMs: number;
  }>;

/** One attempt of the server to post a result, and the answer. */
type Post = Readonly<{ resultId: number; atMs: number; answer: string }>;

export type Orders = ReturnType<typeof createOrders>;

/** Over 70 lines: one function for each question and each write. */
export function createOrders({ all, atOnce, insert, run }: Database) {
  function find(orderNo: string): Order | undefined {
    return all<Order>('select * from orders where orderNo = ?', orderNo)[0];
  }

  return {
    find,

    /** Stores a new order. The same hand-over again is the same order; `different` if its number is already taken. */
    add(handOver: HandOver): 'kept' | 'different' {
      const existing = find(handOver.orderNo);
      if (existing)
        return isDeepStrictEqual({ ...existing, ...handOver }, { ...existing }) ? 'kept' : 'different';
      const paymentTransId = newPaymentTransId();
      insert('orders', { ...handOver, paymentTransId, state: 'open', createdAtMs: Date.now() });
      return 'kept';
    },

    recent(limit: number): Order[] {
      return all<Order>('select * from orders order by createdAtMs desc, rowid desc limit ?', limit);
    },

    /** The orders of one transaction of the service, oldest first. */
    ofTransaction(transId: string): Order[] {
      return all<Order>('select * from orders where transId = ? order by createdAtMs, rowid', transId);
    },

    /** Stores the land registry's name for a transaction. */
    nameTransaction(transId: string, transaksiId: string): void {
      run('insert or replace into transaksiIds values (?, ?)', transId, transaksiId);
    },

    /** The orders of the transactions with this name at the land registry. */
    ofTransaksiId(transaksiId: string): Order[] {
      return all<Order>(
        `select * from orders where transId in (select transId from transaksiIds where transaksiId = ?)
          order by createdAtMs, rowid`,
        transaksiId,
      );
    },

    /** The order of the payment with this number, in a list. */
    ofPayment(paymentTransId: string): Order[] {
      return all<Order>(
        `select * from orders where paymentTransId = ?
          or orderNo in (select orderNo from results where paymentTransId = ?)`,
        paymentTransId,
        paymentTransId,
      );
    },

    /**
     * Decides an order; false if its state no longer allows the outcome (a second click, another window). The browser
     * brings only the first result, because a payer returns once; the server brings the others.
     */
    decide(orderNo: string, outcome: Outcome, delivery: Delivery, delayMs: number): boolean {
      const order = find(orderNo);
      if (!order || !outcomesFor(order.state).includes(outcome)) return false;
      const { state, charges } = consequenceOf(outcome, order);
      const now = Date.now();
      atOnce(() => {
        run('update orders set state = ? where orderNo = ?', state, orderNo);
        run('update results set byBrowser = 0 where orderNo = ?', orderNo);
        for (const [index, charge] of charges.entries())
          insert('results', {
            ...charge,
            orderNo,
            decidedAtMs: now,
            byBrowser: index === 0 && (delivery === 'both' || delivery === 'browser') ? 1 : 0,
            serverPost: delivery === 'none' ? 'lost' : index === 0 && delivery === 'browser' ? 'none' : 'due',
            notBeforeMs: now + delayMs,
          });
      });
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

    /** The result for the payer's browser to bring, if any. */
    browserResult(orderNo: string): Result | undefined {
      return all<Result>('select * from results where orderNo = ? and byBrowser = 1', orderNo)[0];
    },

    /** The oldest result that the server still has to post for an order. */
    nextDue(orderNo: string): Result | undefined {
      return all<Result>(
        "select * from results where orderNo = ? and serverPost = 'due' order by id limit 1",
        orderNo,
      )[0];
    },

    /** The orders with results that still have to be posted. */
    withDueResults(): Order[] {
      return all<Order>(
        "select * from orders where orderNo in (select orderNo from results where serverPost = 'due')",
      );
    },

    recordPost(post: Post, serverPost: Result['serverPost']): void {
      insert('posts', post);
      run('update results set serverPost = ? where id = ?', serverPost, post.resultId);
    },
  };
}
