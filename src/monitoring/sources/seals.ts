/** Whether the log is being sealed. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Reading } from '@ledger/observability/metrics.ts';
import { unsealed } from '../../audit/seals/stored-seals.ts';
import { sealsStream } from '../../events/seals.ts';

export const readSeals =
  (
    eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
    sealingRefused: () => Promise<string | null>,
    runtime: Pick<Runtime, 'now'>,
  ) =>
  async (signal: AbortSignal): Promise<Reading[]> => {
    const now = runtime.now();
    const ageOf = (since: Date) => Math.max(0, now.getTime() - since.getTime()) / 1_000;
    const last = await eventStore.loadLast(sealsStream);
    const open = await unsealed(eventStore, {
      now,
      refused: await sealingRefused().catch(() => null),
      signal,
    });
    return [
      ...(last ? [['ledger_seal_age_seconds', ageOf(last.created)] as const] : []),
      ['ledger_unsealed_seconds', 'since' in open ? ageOf(open.since) : 0],
      ['ledger_seal_unaccountable', open.state === 'unaccountable' ? 1 : 0],
    ];
  };
