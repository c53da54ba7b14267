/**
 * Posts results from the gateway's server to the service, independently of the payer's browser. The results of an order
 * are posted one after the other. If the service is down or answers 5xx, attempts continue for half a minute.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Order, type Orders, type Result, shortOrderNo } from './orders.ts';
import { resultFields } from './result-fields.ts';

const pausesMs = [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000];
const timeoutMs = 10_000;

/** `start` begins to post the due results of an order and returns immediately; after `close` the rest stays due. */
export function createServerPosts({ orders, secret, log }: { orders: Orders; secret: string; log: Logger }) {
  const closing = new AbortController();
  const running = new Map<string, Promise<void>>();

  async function postAllDue(order: Order): Promise<void> {
    try {
      for (let due = orders.nextDue(order.orderNo); due; due = orders.nextDue(order.orderNo)) {
        await pause(Math.max(0, due.notBeforeMs - Date.now()), undefined, { signal: closing.signal });
        await postUntilTaken(order, due);
      }
    } catch (error) {
      if (!closing.signal.aborted)
        log.error({ err: error, orderNo: shortOrderNo(order.orderNo) }, 'sandbox post failed');
    } finally {
      // In the same turn in which nothing more was due, so that no later `start` relies on a loop that has ended.
      running.delete(order.orderNo);
    }
  }

  async function postUntilTaken(order: Order, result: Result): Promise<void> {
    for (const [index, pauseMs] of pausesMs.entries()) {
      await pause(pauseMs, undefined, { signal: closing.signal });
      const { answer, settled } = await postOnce(order, result, secret, closing.signal);
      const last = index === pausesMs.length - 1;
      const serverPost = settled ?? (last ? 'given-up' : 'due');
      orders.recordPost({ resultId: result.id, atMs: Date.now(), answer }, serverPost);
      log.info(
        { orderNo: shortOrderNo(order.orderNo), status: result.status, answer, serverPost },
        'sandbox result posted',
      );
      if (serverPost !== 'due') return;
    }
  }

  return {
    start(order: Order): void {
      if (running.has(order.orderNo)) return;
      running.set(
        order.orderNo,
        Promise.resolve().then(() => postAllDue(order)),
      );
    },

    async close(): Promise<void> {
      closing.abort();
      await Promise.all(running.values());
    },
  };
}

/** The service's answer; `settled` is missing if another attempt may succeed. */
async function postOnce(
  order: Order,
  result: Result,
  secret: string,
  closing: AbortSignal,
): Promise<{ answer: string; settled?: 'delivered' | 'refused' }> {
  try {
    const response = await fetch(order.responseUrl, {
      method: 'POST',
      body: new URLSearchParams(resultFields(order, result, secret)),
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    const answer = `HTTP ${response.status}`;
    if (response.status >= 500 || response.status === 429) return { answer };
    return { answer, settled: response.status < 400 ? 'delivered' : 'refused' };
  } catch (error) {
    closing.throwIfAborted();
    return { answer: failureText(error) };
  }
}

/** fetch hides the reason (ECONNREFUSED, a bad certificate) in the error's cause. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.name === 'TimeoutError' ? `no answer in ${timeoutMs / 1_000} s` : error.message;
}
