/** What a process stands on: its stores, the clock and the disk of its machine. */
import { statfs } from 'node:fs/promises';
import type { Look } from '../look.ts';
import type { GaugeSource } from '../metrics.ts';

export function readiness(
  look: () => Promise<Look>,
  reasonsOf: (look: Look) => readonly string[],
): GaugeSource {
  return {
    name: 'readiness',
    gauges: {
      ledger_event_store_up: '1 if the event store answers and has room',
      ledger_postgres_up: '1 if PostgreSQL answers and has room',
      ledger_ready: '1 if the process can do its work; /readyz says why not',
    },
    async read() {
      const found = await look();
      return [
        { gauge: 'ledger_event_store_up', value: found.eventStore === 'up' ? 1 : 0 },
        { gauge: 'ledger_postgres_up', value: found.postgres === 'up' ? 1 : 0 },
        { gauge: 'ledger_ready', value: reasonsOf(found).length === 0 ? 1 : 0 },
      ];
    },
  };
}

/** `folder` may be missing: then nothing of this process is on the disk. */
export function machine(clockDifferenceMs: () => number | null, folder: string): GaugeSource {
  return {
    name: 'machine',
    gauges: {
      ledger_clock_difference_seconds: 'The time of day of this machine minus that of PostgreSQL',
      ledger_disk_free_bytes: 'What is free on the disk of DATA_DIR',
      ledger_disk_size_bytes: 'The size of that disk',
    },
    async read() {
      const difference = clockDifferenceMs();
      const disk = await statfs(folder).catch(() => null);
      return [
        ...(difference === null
          ? []
          : [{ gauge: 'ledger_clock_difference_seconds', value: difference / 1_000 }]),
        ...(disk ? [{ gauge: 'ledger_disk_free_bytes', value: disk.bavail * disk.bsize }] : []),
        ...(disk ? [{ gauge: 'ledger_disk_size_bytes', value: disk.blocks * disk.bsize }] : []),
      ];
    },
  };
}
