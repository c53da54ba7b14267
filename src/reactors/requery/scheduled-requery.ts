/**
 * Asks the transaction registry, by a schedule, what became of payments that were left open: a result that never arrived
 * is found. When a payment is due is part of its own fold, so that nothing is forgotten or kept twice over a restart. A
 * question without an answer puts its own payment off and no other, so that none of them holds the rest up.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { RegistryUnavailable } from '../../clients/registry/answer.ts';
import type { TransactionRegistry } from '../../clients/registry/registry.ts';
import type { Execute } from '../../commands/execute.ts';
import { loadPayment } from '../../commands/load-payment.ts';
import type { PaymentCommand } from '../../commands/payment.ts';
import {
  type Payment,
  type PaymentEvent,
  paymentStream,
  type RegistryAnswer,
  type RequestedPayment,
} from '../../events/payment.ts';
import { nextRequeryAt, requeryAgainAt } from '../../events/requery-schedule.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import { findDueRequeries, postponeRequery } from '../../projections/payments/queries.ts';

export type RequeryDependencies = {
  registry: TransactionRegistry;
  eventStore: Pick<EventStore, 'load'>;
  execute: Execute<Payment, PaymentCommand, PaymentEvent>;
  db: Knex;
  log: Logger;
  clock: () => Date;
};

/** At most ten questions a second, one after the other: the registry also serves others. */
const pauseMs = 100;
const pollMs = 2_000;
const longestBackoffMs = 5 * 60_000;
/** A payment that was seen to is left alone for so long, since its row may lag. */
const setAsideMs = 60_000;
const pageSize = 100;

/**
 * Runs until stopped. Of all processes that run it one asks, the others stand by. Outages of the registry and of the
 * stores are waited out, longer each time up to 5 minutes; they leave no event, and one line in the log each time.
 */
export function startScheduledRequery(
  dependencies: Omit<RequeryDependencies, 'clock'> & { databaseUrl: string; runtime: Runtime },
): { stop(): Promise<void> } {
  const { databaseUrl, log, runtime } = dependencies;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass = createRequeryPass({ ...dependencies, clock: () => new Date() });
  let failures = 0;

  async function askWhileLeading(leading: AbortSignal): Promise<void> {
    while (!leading.aborted) {
      await rest(pollMs, leading);
      await pass(leading, () => rest(pauseMs, leading));
      failures = 0;
    }
  }

  async function keepAsking(): Promise<void> {
    while (!signal.aborted) {
      try {
        await withLeaderLock({ databaseUrl, name: 'requery', runtime, signal }, askWhileLeading);
      } catch (error) {
        failures += 1;
        const backoffMs = Math.min(pollMs * 2 ** (failures - 1), longestBackoffMs);
        log.warn({ reason: reasonOf(error), failures, backoffMs }, 'scheduled requery is interrupted');
        await rest(backoffMs * (0.5 + Math.random() / 2), signal);
      }
    }
  }

  const asking = keepAsking();
  return {
    stop() {
      stopping.abort();
      return asking;
    },
  };
}

/**
 * One pass asks once about every payment that is due, and resolves when none is left or the signal aborts. A registry
 * that cannot be reached ends it with RegistryUnavailable, a store with its own error; one that answers nonsense may do
 * so about one payment alone, and the pass goes on.
 */
export function createRequeryPass(dependencies: RequeryDependencies) {
  const { clock, db } = dependencies;
  const setAside = new Map<string, number>();

  return async (signal: AbortSignal, pause: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      const now = clock();
      for (const [id, untilMs] of setAside) if (untilMs <= now.getTime()) setAside.delete(id);
      const due = await findDueRequeries(db, { now, except: [...setAside.keys()], limit: pageSize });
      if (due.length === 0) return;
      for (const transactionId of due) {
        if (signal.aborted) return;
        setAside.set(transactionId, now.getTime() + setAsideMs);
        if (await requery(transactionId, dependencies)) await pause();
      }
    }
  };
}

/** False when the stream, which knows more than the row, says that there is nothing to ask. */
async function requery(transactionId: string, dependencies: RequeryDependencies): Promise<boolean> {
  const { clock, eventStore, execute } = dependencies;
  const payment = await loadPayment(eventStore, transactionId);
  const at = clock().toISOString();
  if (payment.status === 'none' || !isDue(nextRequeryAt(payment), at)) return false;
  const answer = await askOrPostpone(payment, dependencies);
  if (answer === null) return true;
  const { channel, merchant } = payment.request;
  const commandId = randomUUID();
  await execute(
    paymentStream(transactionId),
    { type: 'RecordRequeryAnswer', at, channel, merchantCode: merchant.code, answer },
    { commandId, correlationId: commandId, causationId: commandId, actor: 'registry' },
  );
  return true;
}

/** Null for an answer that is none. Whatever fails, it is another payment's turn next. Throws RegistryUnavailable. */
async function askOrPostpone(
  payment: RequestedPayment,
  { clock, db, log, registry }: RequeryDependencies,
): Promise<RegistryAnswer | null> {
  const { transactionId } = payment.request;
  try {
    return await registry.ask(transactionId);
  } catch (error) {
    if (!(error instanceof RegistryUnavailable)) throw error;
    const now = clock();
    const until = requeryAgainAt(payment, now);
    if (until) await postponeRequery(db, transactionId, { now, until });
    if (error.fault !== 'no_answer') throw error;
    log.warn({ reason: error.message, transactionId, until }, 'the registry has no answer about a payment');
    return null;
  }
}

/** Both UTC with milliseconds, so that texts compare as times. */
function isDue(nextAt: string | null, now: string): boolean {
  return nextAt !== null && nextAt <= now;
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

function reasonOf(error: unknown): string {
  if (error instanceof RegistryUnavailable) return error.fault;
  if (!(error instanceof Error)) return String(error);
  // A refused connection to several addresses has no message of its own.
  return error.message || String(Reflect.get(error, 'code') ?? error.name);
}
