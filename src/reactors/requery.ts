/**
 * Asks the transaction registry, by a schedule, what became of payments that were left open: a result that never arrived
 * is found. When a payment is due is part of its own fold, so that nothing is forgotten or kept twice over a restart.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { RegistryUnavailable } from '../clients/registry-answer.ts';
import type { TransactionRegistry } from '../clients/transaction-registry.ts';
import type { Execute } from '../commands/execute.ts';
import type { PaymentCommand } from '../commands/payment.ts';
import { evolve, noPayment, type Payment, type PaymentEvent, paymentStream } from '../events/payment.ts';
import { readPaymentEvent } from '../events/recorded.ts';
import { nextRequeryAt } from '../events/requery-schedule.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { whileLeading } from '../projections/leadership.ts';
import { findDueRequeries } from '../projections/requeries-queries.ts';

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
/** A payment that was seen to is left alone for so long: its row may lag, or the registry may choke on it alone. */
const setAsideMs = 60_000;
const pageSize = 100;

/**
 * Runs until stopped. Of all processes that run it one asks, the others stand by. Outages of the registry and of the
 * stores are waited out, longer each time up to 5 minutes; they leave no event, and one line in the log each time.
 */
export function startScheduledRequery(
  dependencies: Omit<RequeryDependencies, 'clock'> & { databaseUrl: string },
): { stop(): Promise<void> } {
  const { databaseUrl, log } = dependencies;
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
        await whileLeading({ databaseUrl, name: 'requery', signal }, askWhileLeading);
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
 * One pass asks once about every payment that is due, and resolves when none is left or the signal aborts. A question
 * that fails sets its payment aside and ends the pass with the error: RegistryUnavailable, or that of a store.
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
async function requery(
  transactionId: string,
  { clock, eventStore, execute, registry }: RequeryDependencies,
): Promise<boolean> {
  const stream = paymentStream(transactionId);
  const payment = (await eventStore.load(stream)).map(readPaymentEvent).reduce(evolve, noPayment);
  const at = clock().toISOString();
  if (payment.status === 'none' || !isDue(nextRequeryAt(payment), at)) return false;
  const answer = await registry.ask(transactionId);
  const { channel, merchant } = payment.request;
  const commandId = randomUUID();
  await execute(
    stream,
    { type: 'RecordRequeryAnswer', at, channel, merchantCode: merchant.code, answer },
    { commandId, correlationId: commandId, causationId: commandId, actor: 'registry' },
  );
  return true;
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
