/** What a process stands on: the clock and the disk of its machine. */
import { statfs } from 'node:fs/promises';
import type { Reading } from '@ledger/observability/metrics.ts';

/** Without a folder, the process keeps nothing on a disk. The difference is null until it is known. */
export const readMachine =
  (clockDifferenceMs: () => number | null, folder: string) => async (): Promise<Reading[]> => {
    const differenceMs = clockDifferenceMs();
    const disk = await statfs(folder).catch(() => null);
    const readings: Reading[] = [];
    if (differenceMs !== null) readings.push(['ledger_clock_difference_seconds', differenceMs / 1_000]);
    if (disk)
      readings.push(
        ['ledger_disk_free_bytes', disk.bavail * disk.bsize],
        ['ledger_disk_size_bytes', disk.blocks * disk.bsize],
      );
    return readings;
  };
