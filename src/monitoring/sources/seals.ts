/** Whether the log is being sealed. */
import { unsealed } from '../../audit/seals/stored-seals.ts';
import { sealsStream } from '../../events/seals.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { GaugeSource } from '../metrics.ts';

export function seals(
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter'>,
  runtime: Pick<Runtime, 'now'>,
): GaugeSource {
  return {
    name: 'seals',
    gauges: {
      ledger_seal_age_seconds:
        'The age of the last seal; missing before the first. A log that is not written to is not sealed',
      ledger_unsealed_seconds: 'The age of the oldest event that no seal covers',
      ledger_seal_unaccountable: '1 if the log does not agree with its last seal, so that nothing is sealed',
    },
    async read(signal) {
      const now = runtime.now();
      const ageOf = (since: Date) => Math.max(0, now.getTime() - since.getTime()) / 1_000;
      const [last, open] = await Promise.all([
        eventStore.loadLast(sealsStream),
        unsealed(eventStore, now, signal),
      ]);
      return [
        ...(last ? [{ gauge: 'ledger_seal_age_seconds', value: ageOf(last.created) }] : []),
        { gauge: 'ledger_unsealed_seconds', value: 'since' in open ? ageOf(open.since) : 0 },
        { gauge: 'ledger_seal_unaccountable', value: open.state === 'unaccountable' ? 1 : 0 },
      ];
    },
  };
}
