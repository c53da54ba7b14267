/**
 * Asks the transaction registry on schedule about open attempts, so that missing results are found.
 * The to-do list (src/to-do/requery-list.ts) says which payments are due; the payment's own fold decides. Any number of
 * processes may run this: they share the list and the rate.
 */
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { runUntilStopped } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import { RegistryUnavailable } from '../../clients/transaction-registry/answer.ts';
import type { TransactionRegistry } from '../../clients/transaction-registry/registry.ts';
import { loadHead } from '../../commands/execute.ts';
import { paymentDecider } from '../../commands/payment.ts';
import type { RecordAnswer } from '../../commands/record-answer.ts';
import { asUnreadable, UnreadableEvent } from '../../events/codec.ts';
import { ownCause } from '../../events/envelope.ts';
import { paymentStream, type RequestedPayment } from '../../events/payment.ts';
import type { RegistryAnswer } from '../../events/payment-result.ts';
import { nextRequeryAt } from '../../events/requery-schedule.ts';
import type { ClaimedRequery, RequeryQueue } from '../../to-do/requery-queue.ts';

type RequeryDependencies = Pick<Stores<'load'>, 'eventStore' | 'log' | 'runtime'> & {
  registry: TransactionRegistry;
  recordAnswer: RecordAnswer;
  queue: RequeryQueue;
  /** Requeries per second, of all processes together. */
  perSecond: number;
};

const mostRequeriesAtOnce = 100;
const pollMs = 1_000;
/** Longer than a requery and the recording of its answer can take. */
const leaseMs = 60_000;
/** A payment that cannot be read, or that the log lacks, needs a person, not a requery every minute. */
const unreadableMs = 60 * 60_000;
const firstBackoffMs = 2_000;
const longestBackoffMs = 5 * 60_000;

/** Runs until stopped; waits for the requeries in progress. */
export function startScheduledRequery(dependencies: RequeryDependencies) {
  const requeries = createRequeries(dependencies);
  return runUntilStopped(async (signal) => {
    while (!signal.aborted) {
      await requeries.begin();
      await dependencies.runtime.sleep(pollMs, signal);
    }
    await requeries.settled();
  });
}

/**
 * Asks about due payments, several at a time. In an outage of the registry it asks about one at a time, after pauses
 * that grow up to 5 minutes.
 */
export function createRequeries(dependencies: RequeryDependencies) {
  const { log, perSecond, queue, runtime } = dependencies;
  const warn = warnSeldom(log, runtime);
  const holder = runtime.uuid();
  const underWay = new Set<Promise<void>>();
  let failures = 0;
  let pausedUntilMs = 0;

  async function claim(): Promise<ClaimedRequery[]> {
    const limit = (failures > 0 ? 1 : mostRequeriesAtOnce) - underWay.size;
    if (limit <= 0 || runtime.monotonicMs() < pausedUntilMs) return [];
    const now = runtime.now();
    const leaseUntil = new Date(now.getTime() + leaseMs);
    return await queue.claim({ now, leaseUntil, holder, limit, perSecond }).catch((error) => {
      warn({ reason: briefReasonOf(error) }, 'no scheduled requery can be claimed for now');
      return [];
    });
  }

  async function requery(claimed: ClaimedRequery): Promise<void> {
    const { answer, wakeAt } = await requeryOne(claimed, dependencies);
    if (answer && 'results' in answer) failures = 0;
    // A question that was under way when the pause began gives no new information.
    else if (answer?.isOutage && runtime.monotonicMs() >= pausedUntilMs) {
      failures += 1;
      const pauseMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1));
      pausedUntilMs = runtime.monotonicMs() + pauseMs;
      log.warn({ failures, pauseMs }, 'the registry cannot be asked');
    }
    await queue.release(claimed, holder, wakeAt);
  }

  return {
    /** Claims what is due and begins to ask; resolves to how many payments it claimed. */
    async begin(): Promise<number> {
      const claimed = await claim();
      for (const each of claimed) {
        const question = requery(each)
          // The lease ends by itself.
          .catch((error) => log.warn({ reason: reasonOf(error) }, 'a scheduled requery is interrupted'))
          .finally(() => underWay.delete(question));
        underWay.add(question);
      }
      return claimed.length;
    },
    settled: () => Promise.all(underWay),
  };
}

/** The registry's answer or why it gave none, null if it was not asked; and when to look at the payment again. */
type Requeried = { answer: RegistryAnswer | RegistryUnavailable | null; wakeAt: Date | null };

/** Asks if the stream, which may be ahead of the row, says so. Throws EventStoreUnavailable. */
async function requeryOne(claimed: ClaimedRequery, dependencies: RequeryDependencies): Promise<Requeried> {
  const { eventStore, log, recordAnswer, runtime } = dependencies;
  const { transactionId } = claimed;
  const head = await loadHead(eventStore, paymentStream(transactionId), paymentDecider).catch(asUnreadable);
  if (head instanceof UnreadableEvent)
    log.warn({ transactionId, reason: head.message }, 'a payment whose requery is due cannot be read');
  if (head instanceof UnreadableEvent || head.state.status === 'none')
    return { answer: null, wakeAt: new Date(runtime.now().getTime() + unreadableMs) };

  const dueAt = nextRequeryAt(head.state, claimed.countedAt?.toISOString());
  if (dueAt !== null && dueAt > runtime.now().toISOString()) return { answer: null, wakeAt: new Date(dueAt) };
  const answer = dueAt === null ? null : await ask(head.state, dependencies);
  const at = runtime.now().toISOString();
  const cause = ownCause(runtime.uuid(), 'registry');
  const { state } = await recordAnswer(head.state.request, answer, { at, cause, from: head });
  const next = state.status === 'none' ? null : nextRequeryAt(state, at);
  return { answer, wakeAt: next === null ? null : new Date(next) };
}

async function ask(
  { request: { transactionId } }: RequestedPayment,
  { log, registry }: RequeryDependencies,
): Promise<RegistryAnswer | RegistryUnavailable> {
  return await registry.ask(transactionId).catch((error) => {
    if (!(error instanceof RegistryUnavailable)) throw error;
    log.warn({ reason: error.message, transactionId }, 'the registry has no answer about a payment');
    return error;
  });
}
