// A transaction registry that answers as a test tells it to, on a real port.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { createTransactionRegistry } from '../../src/clients/transaction-registry/registry.ts';
import { testRuntime } from './runtime.ts';

export type Registry = { url: string; asked: string[]; answer(listener: RequestListener): void };

/** Ends with the test. Until told otherwise it knows nothing of any transaction. */
export async function startRegistry(t: Pick<ExecutionContext, 'teardown'>): Promise<Registry> {
  const asked: string[] = [];
  let listener: RequestListener = listOf();
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      listener = next;
    },
  };
}

/** Our client of it. */
export const askedThrough = ({ url }: Pick<Registry, 'url'>, timeoutMs = 10_000) =>
  createTransactionRegistry({
    runtime: testRuntime(),
    config: { url, token: 'secret-token' },
    log: pino({ level: 'silent' }),
    timeoutMs,
  });

/** Answers every question with these records. */
export function listOf(...records: unknown[]): RequestListener {
  return (_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(records));
  };
}

/** A record of a success, with everything filled in. */
export function registryRecord(transactionId: string, over: Record<string, unknown> = {}) {
  return {
    id: '4711',
    merchant_trans_id: transactionId,
    eps_status: '1',
    status_message: 'Successful',
    receipt_no: 'R-9',
    payment_mode: 'fpx',
    gateway_id1: 'P1',
    buyer_bank: 'Maybank2U',
    buyer_name: 'AMINAH BINTI ISMAIL',
    amount: '120.50',
    payment_datetime: '2026-11-20 09:04:30',
    ...over,
  };
}
