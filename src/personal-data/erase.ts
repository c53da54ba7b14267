/**
 * Erases the personal data of payments: destroys their keys, then appends the event that says so. Keys come first, so
 * that no event ever claims an erasure that did not happen.
 */
import { Refused } from '../commands/decider.ts';
import { type ExecuteOf, type Head, headOf } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { type Payment, paymentStream } from '../events/payment.ts';
import { isHolding } from '../events/personal-data.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Runtime } from '../kernel/runtime.ts';
import type { Erasure, KeyStore } from './key-store.ts';

export type Erase = ReturnType<typeof createErase>;

/** How many streams are read at a time. */
const pageSize = 20;
/** Results that arrive while their payment is erased; more than this is no coincidence. */
const maxRounds = 10;

/** `onErased` removes copies that are kept elsewhere. It is called again when it did not succeed. */
export function createErase({
  store,
  eventStore,
  execute,
  onErased,
  runtime,
}: {
  store: Pick<KeyStore, 'destroy' | 'erasures'>;
  eventStore: Pick<EventStore, 'load'>;
  execute: ExecuteOf<typeof paymentDecider>;
  onErased: (transactionIds: readonly string[]) => Promise<void>;
  runtime: Pick<Runtime, 'now' | 'uuid'>;
}) {
  async function load(transactionId: string) {
    const events = await eventStore.load(paymentStream(transactionId));
    return { head: headOf(events, paymentDecider), lastAt: events.at(-1)?.created ?? null };
  }

  /** Destroys again whatever was added in the meantime. False if somebody else has recorded it. */
  async function record({ transactionId, reason, actor }: Erasure, loaded: Head<Payment>): Promise<boolean> {
    let from = loaded;
    for (let round = 1; ; round += 1) {
      const commandId = runtime.uuid();
      const destroyed = keysOf(from.state);
      try {
        const { events } = await execute(
          paymentStream(transactionId),
          { type: 'ErasePersonalData', at: runtime.now().toISOString(), reason, destroyed },
          { commandId, correlationId: commandId, causationId: commandId, actor },
          { from },
        );
        return events.length > 0;
      } catch (error) {
        const isAdded = error instanceof Refused && error.code === 'personal_data_added';
        if (!isAdded || round === maxRounds) throw error;
        from = (await load(transactionId)).head;
        await store.destroy(keysOf(from.state));
      }
    }
  }

  /**
   * Resolves to the ids of the payments that this call erased: not those that hold no personal data, or on which
   * something happened since `unlessSince`. Throws Refused for an unknown payment, UnreadableEvent, KeysUnavailable,
   * EventStoreUnavailable and the database's error; what had begun by then is completed by the next retention pass.
   */
  return async (
    asked: readonly Erasure[],
    { unlessSince }: { unlessSince?: Date } = {},
  ): Promise<string[]> => {
    const done: string[] = [];
    for (let start = 0; start < asked.length; start += pageSize) {
      const page = await Promise.all(
        asked
          .slice(start, start + pageSize)
          .map(async (erasure) => ({ erasure, ...(await load(erasure.transactionId)) })),
      );
      if (page.some(({ head }) => head.state.status === 'none'))
        throw new Refused('unknown_payment', 'There is no such payment');
      const due = page.filter(({ lastAt }) => !(unlessSince && lastAt && lastAt >= unlessSince));
      const left = due.filter(
        ({ head: { state } }) => state.status !== 'none' && isHolding(state.personalData),
      );
      if (left.length > 0) {
        await store.erasures.begin(left.map(({ erasure }) => erasure));
        await store.destroy(left.flatMap(({ head }) => keysOf(head.state)));
      }
      for (const { erasure, head } of left) if (await record(erasure, head)) done.push(erasure.transactionId);
      // Also of what another process had begun, and recorded, without coming to this.
      const ids = due.map(({ erasure }) => erasure.transactionId);
      if (ids.length > 0) await onErased(ids);
      await store.erasures.complete(ids);
    }
    return done;
  };
}

const keysOf = (state: Payment) => (state.status === 'none' ? [] : state.personalData.keys);
