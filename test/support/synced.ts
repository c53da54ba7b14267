/** What this process synchronizes to disk from now on, in order, with `look` at the moment of each. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { ExecutionContext } from 'ava';

export function recordSynced<Found>(
  t: ExecutionContext,
  look: () => Found,
): { path: string; found: Found }[] {
  const synced: { path: string; found: Found }[] = [];
  const paths = new Map<number, string>();
  const { openSync, fsyncSync } = fs;
  fs.openSync = (path, ...rest) => {
    const opened = openSync(path, ...rest);
    paths.set(opened, String(path));
    return opened;
  };
  fs.fsyncSync = (opened) => {
    fsyncSync(opened);
    synced.push({ path: paths.get(opened) ?? '', found: look() });
  };
  syncBuiltinESMExports();
  t.teardown(() => {
    Object.assign(fs, { openSync, fsyncSync });
    syncBuiltinESMExports();
  });
  return synced;
}
