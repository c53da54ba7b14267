/**
 * Erases personal data: destroys their keys, then appends the event that says so. Keys come first, so that no event ever
 * claims an erasure that did not happen.
 */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { portionsOf } from '@ledger/kernel/pages.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Erasure, KeyStore } from '@ledger/personal-data/key-store.ts';
import { type HeldKeys, isHolding } from '@ledger/personal-data/sealed.ts';
import { Refused } from '../commands/decider.ts';
import { createExecute, headOf } from '../commands/execute.ts';
import type { ErasePersonalData } from '../commands/payment.ts';
import { paymentDecider } from '../commands/payment.ts';
import { loadUnmatched, unmatchedDecider } from '../commands/unmatched.ts';
import { type Cause, ownCause } from '../events/envelope.ts';
import { paymentStream, readPaymentEvent } from '../events/payment.ts';
import { resolutionStream } from '../events/unmatched.ts';

export type Erase = ReturnType<typeof createErase>;

const unmatchedPrefix = 'unmatched/';

/** What is erased is named by the transaction id of a payment, or like this if it is a result in quarantine. */
export const unmatchedSubject = (id: string) => `${unmatchedPrefix}${id}`;

/** The id of the result in quarantine; null if the subject is a payment. */
export function unmatchedIn(subject: string): string | null {
  return subject.startsWith(unmatchedPrefix) ? subject.slice(unmatchedPrefix.length) : null;
}

const pageSize = 20;
/** Results that arrive while their payment is erased; more than this is no coincidence. */
const maxRounds = 10;

type Streams = Pick<EventStore, 'append' | 'load'>;

type Loaded = {
  held: HeldKeys;
  /** Since when nothing has happened; null if it is not erased for its age. */
  quietSince: Date | null;
  append(command: ErasePersonalData, cause: Cause): Promise<{ events: readonly unknown[] }>;
};

/**
 * `onErased` removes copies that are kept elsewhere. If it rejects or resolves to false, it is called again by a retention
 * pass, `isLate` once everything else of these erasures was done before.
 */
export function createErase(dependencies: {
  store: Pick<KeyStore, 'destroy' | 'erasures'>;
  eventStore: Streams;
  onErased: (subjects: readonly string[], isLate: boolean) => Promise<boolean>;
  runtime: Pick<Runtime, 'now' | 'uuid'>;
}) {
  const { store, eventStore, onErased, runtime } = dependencies;

  /** Destroys again whatever was added in the meantime. False if somebody else has recorded it. */
  async function record({ subject, reason, actor }: Erasure, loaded: Loaded): Promise<boolean> {
    let from = loaded;
    for (let round = 1; ; round += 1) {
      const at = runtime.now().toISOString();
      try {
        const command = { type: 'ErasePersonalData', at, reason, destroyed: from.held.keys } as const;
        const { events } = await from.append(command, ownCause(runtime.uuid(), actor));
        return events.length > 0;
      } catch (error) {
        const isAdded = error instanceof Refused && error.code === 'personal_data_added';
        if (!isAdded || round === maxRounds) throw error;
        from = await load(subject, eventStore);
        await store.destroy(from.held.keys);
      }
    }
  }

  /**
   * Resolves to the subjects that this call erased: not those that hold no personal data, or on which something happened
   * since `unlessSince`. `isLate`: they were begun more than a minute ago. Throws Refused for an unknown one,
   * UnreadableEvent, KeysUnavailable, EventStoreUnavailable and the database's error; what had begun by then is completed by
   * the next retention pass.
   */
  return async (
    asked: readonly Erasure[],
    { unlessSince, isLate = false }: { unlessSince?: Date; isLate?: boolean } = {},
  ): Promise<string[]> => {
    const done: string[] = [];
    for (const portion of portionsOf(asked, pageSize)) {
      const page = await Promise.all(
        portion.map(async (erasure) => ({ erasure, loaded: await load(erasure.subject, eventStore) })),
      );
      const due = page.filter(
        ({ loaded: { quietSince } }) => !unlessSince || (quietSince && quietSince < unlessSince),
      );
      const left = due.filter(({ loaded }) => isHolding(loaded.held));
      if (left.length > 0) {
        await store.erasures.begin(left.map(({ erasure }) => erasure));
        await store.destroy(left.flatMap(({ loaded }) => loaded.held.keys));
      }
      for (const { erasure, loaded } of left) if (await record(erasure, loaded)) done.push(erasure.subject);
      // Another process may have begun and recorded some of them without coming to this.
      const subjects = due.map(({ erasure }) => erasure.subject);
      const isClean = subjects.length === 0 || (await onErased(subjects, isLate && left.length === 0));
      if (isClean) await store.erasures.complete(subjects);
    }
    return done;
  };
}

async function load(subject: string, eventStore: Streams): Promise<Loaded> {
  const id = unmatchedIn(subject);
  return id === null ? await loadPayment(subject, eventStore) : await loadResult(id, eventStore);
}

async function loadPayment(transactionId: string, eventStore: Streams): Promise<Loaded> {
  const execute = createExecute({ eventStore, decider: paymentDecider });
  const stream = paymentStream(transactionId);
  const events = await eventStore.load(stream);
  const from = headOf(events, paymentDecider);
  const last = events.at(-1);
  if (!last || from.state.status === 'none') throw new Refused('unknown_payment', 'There is no such payment');
  // The later of two clocks, the event store's and PostgreSQL's: a wrong one must not make data look old.
  const recordedMs = Date.parse(readPaymentEvent(last).data.at);
  return {
    held: from.state.personalData,
    quietSince: new Date(Math.max(last.created.getTime(), recordedMs)),
    append: (command, cause) => execute(stream, command, cause, { from }),
  };
}

/**
 * What staff do about a result adds no personal data, and so does not prolong how long they are kept. Until they have
 * resolved it, nothing but what was received says whose money it is about.
 */
async function loadResult(id: string, eventStore: Streams): Promise<Loaded> {
  const execute = createExecute({ eventStore, decider: unmatchedDecider });
  const found = await loadUnmatched(id, eventStore);
  if (!found) throw new Refused('unknown_exception', 'There is no such unmatched result');
  return {
    held: found.personalData,
    quietSince: found.head.state.resolved ? found.receivedAt : null,
    append: (command, cause) => execute(resolutionStream(id), command, cause, { from: found.head }),
  };
}
