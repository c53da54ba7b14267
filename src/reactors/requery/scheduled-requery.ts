/**
 * Asks the transaction registry on a schedule what became of open payments, so that results that never arrived are
 * found. The payment's own fold says when it is due (events/requery-schedule.ts), so that a restart neither skips nor
 * repeats a question. A question without an answer postpones only its own payment.
 */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { RegistryUnavailable } from '../../clients/registry/answer.ts';
import type { TransactionRegistry } from '../../clients/registry/registry.ts';
import { type ExecuteOf, loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import { paymentStream, type RequestedPayment } from '../../events/payment.ts';
import type { RegistryAnswer } from '../../events/payment-result.ts';
import { nextRequeryAt, requeryAgainAt } from '../../events/requery-schedule.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import { reasonOf } from '../../kernel/reason-of.ts';
import { retry } from '../../kernel/retry.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { withLeaderLock } from '../../postgres/leader-lock.ts';
import { findDueRequeries, postponeRequery } from '../../projections/payments/queries.ts';

export type RequeryDependencies = {
  registry: TransactionRegistry;
  eventStore: Pick<EventStore, 'load'>;
  execute: ExecuteOf<typeof paymentDecider>;
  db: Knex;
  log: Logger;
  runtime: Runtime;
};

/** At most ten questions a second, one after the other: the registry also serves others. */
const pauseMs = 100;
const pollMs = 2_000;
const longestBackoffMs = 5 * 60_000;
/** A payment is not asked about again within this time, because its row may lag. */
const setAsideMs = 60_000;
const pageSize = 100;

/**
 * Runs until stopped. One process asks, the others stand by. After an outage of the registry or of a store it waits
 * longer each time, up to 5 minutes. An outage leaves no event, and one log line for each attempt.
 */
export function startScheduledRequery(dependencies: RequeryDependencies & { databaseUrl: string }) {
  const { databaseUrl, log, runtime } = dependencies;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass = createRequeryPass(dependencies);

  const asking = retry(
    (onProgress) =>
      withLeaderLock({ databaseUrl, name: 'requery', runtime, signal }, async (leading) => {
        while (!leading.aborted) {
          await runtime.sleep(pollMs, leading);
          await pass(leading);
          onProgress();
        }
      }),
    {
      runtime,
      signal,
      firstMs: pollMs,
      longestMs: longestBackoffMs,
      onFailure(error, failures) {
        const reason = error instanceof RegistryUnavailable ? error.fault : reasonOf(error);
        log.warn({ reason, failures }, 'scheduled requery is interrupted');
      },
    },
  ).catch((err) => {
    // It retries until it is stopped: anything else is a fault of the program.
    if (!signal.aborted) log.error({ err }, 'scheduled requery has ended');
  });
  return {
    async stop() {
      stopping.abort();
      await asking;
    },
  };
}

/**
 * One pass asks once about every payment that is due, and resolves when none is left or the signal aborts. It rejects
 * with RegistryUnavailable when the registry cannot be reached, and with the error of a store; an answer that cannot be
 * read concerns only one payment, and the pass continues.
 */
export function createRequeryPass(dependencies: RequeryDependencies) {
  const { db, runtime } = dependencies;
  const setAside = new Map<string, number>();

  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const now = runtime.now();
      for (const [id, untilMs] of setAside) if (untilMs <= now.getTime()) setAside.delete(id);
      const due = await findDueRequeries(db, { now, except: [...setAside.keys()], limit: pageSize });
      if (due.length === 0) return;
      for (const transactionId of due) {
        if (signal.aborted) return;
        setAside.set(transactionId, now.getTime() + setAsideMs);
        if (await requery(transactionId, dependencies)) await runtime.sleep(pauseMs, signal);
      }
    }
  };
}

/** False when the stream, which is ahead of the row, shows that there is nothing to ask. */
async function requery(transactionId: string, dependencies: RequeryDependencies): Promise<boolean> {
  const { eventStore, execute, runtime } = dependencies;
  const head = await loadHead(eventStore, paymentStream(transactionId), paymentDecider);
  const { state: payment } = head;
  const at = runtime.now().toISOString();
  if (payment.status === 'none') return false;
  const dueAt = nextRequeryAt(payment);
  // Both are UTC with milliseconds, so they compare as texts.
  if (dueAt === null || dueAt > at) return false;
  const answer = await askOrPostpone(payment, dependencies);
  if (answer === null) return true;
  const { channel, merchant } = payment.request;
  const commandId = runtime.uuid();
  await execute(
    paymentStream(transactionId),
    { type: 'RecordRequeryAnswer', at, channel, merchantCode: merchant.code, answer },
    { commandId, correlationId: commandId, causationId: commandId, actor: 'registry' },
    { from: head },
  );
  return true;
}

/** Null when the answer cannot be read. Any failure postpones the payment. Throws RegistryUnavailable. */
async function askOrPostpone(
  payment: RequestedPayment,
  { db, log, registry, runtime }: RequeryDependencies,
): Promise<RegistryAnswer | null> {
  const { transactionId } = payment.request;
  try {
    return await registry.ask(transactionId);
  } catch (error) {
    if (!(error instanceof RegistryUnavailable)) throw error;
    const now = runtime.now();
    const until = requeryAgainAt(payment, now);
    if (until) await postponeRequery(db, transactionId, { now, until });
    if (error.fault !== 'no_answer') throw error;
    log.warn({ reason: error.message, transactionId, until }, 'the registry has no answer about a payment');
    return null;
  }
}
