/** What a worker does with a claimed row at the end of its attempt. */
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { ClaimedDelivery, DeliveryQueue } from '../../to-do/delivery-queue.ts';
import type { PlacedEvent } from '../../to-do/known-deliveries.ts';
import type { RowEnd } from './attempt.ts';

/** How long the list has to come to what an attempt recorded before the worker itself settles the row. */
const settleAfterMs = 1_000;

type Dependencies = {
  queue: DeliveryQueue;
  runtime: Pick<Runtime, 'now' | 'sleep'>;
  stopping: AbortSignal;
  /** Called when a row can be claimed at once. */
  wake: () => void;
};

/** Nothing here rejects: if PostgreSQL does not answer, a lease ends by itself, and the list comes to the last event. */
export function createRelease({ queue, runtime, stopping, wake }: Dependencies) {
  const unsettled = new Map<ClaimedDelivery, readonly PlacedEvent[]>();
  let settling: Promise<void> | undefined;

  async function settle(claimed: ClaimedDelivery, stream: readonly PlacedEvent[]): Promise<void> {
    await queue.settle(claimed, stream).catch(() => {});
  }

  /** Usually the list comes to the end of a stream within milliseconds: only the rows that it leaves are written. */
  async function settleLeft(): Promise<void> {
    await runtime.sleep(settleAfterMs, stopping);
    const waiting = new Map(unsettled);
    unsettled.clear();
    settling = undefined;
    const left = await queue.stillHeld([...waiting.keys()]).catch(() => []);
    await Promise.all(left.map((row) => settle(row, waiting.get(row) ?? [])));
  }

  return {
    async release(claimed: ClaimedDelivery, row: RowEnd): Promise<void> {
      if (row.kind === 'kept') return;
      if (row.kind === 'recorded') {
        unsettled.set(claimed, row.stream);
        settling ??= settleLeft();
        return;
      }
      if (row.stream) await settle(claimed, row.stream);
      const until = new Date(runtime.now().getTime() + row.afterMs);
      await queue.postpone(claimed, until).catch(() => {});
      if (row.afterMs === 0) wake();
    },
    /** Resolves when the rows of all recorded attempts are settled. */
    settled: async () => await settling,
  };
}
