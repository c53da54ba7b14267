/** The data folder of one running ledger, and the lock that keeps a second one out of it. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from './start-error.ts';

export type DataFolder = {
  /** Absolute path. */
  path: string;
  /** Lets another process take the folder. The end of this process, however it comes, does the same. */
  release(): void;
};

/** SQLite's SQLITE_BUSY: another connection holds the lock. */
const sqliteBusy = 5;

/** Held here too: a connection that is garbage-collected closes its file, and the lock would go with it. */
const heldLocks = new Set<DatabaseSync>();

/**
 * Takes the data folder for this process, made if need be, and closes it to other accounts (0700). Covers all that is kept in it: both
 * embedded stores and the generated keys.
 *
 * The lock is one of the kernel's, on a file that SQLite opens: unlike a pid file it is gone with the process
 * that held it, even after kill -9. The pid beside it is for the message only.
 *
 * @throws StartError naming the process that holds the folder, or saying why it cannot be used
 */
export function lockDataFolder(dataDir: string): DataFolder {
  const path = resolve(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  closeToOthers(path);
  const pidFile = join(path, 'ledger.pid');
  const lock = openExclusively(path, pidFile);
  writeFileSync(pidFile, `${process.pid}\n`);
  heldLocks.add(lock);
  return {
    path,
    release() {
      if (heldLocks.delete(lock)) lock.close();
    },
  };
}

/** It may have been there before, open to all as `mkdir` makes it. One that accounts share, such as /tmp, is left alone. */
function closeToOthers(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  const sticky = 0o1000;
  try {
    if ((mode & sticky) !== 0) throw new Error('other accounts have files in it');
    chmodSync(path, 0o700);
  } catch (error) {
    throw new StartError(
      `The data folder ${path} is open to other accounts and cannot be closed to them (${String(error)}). ` +
        'Set DATA_DIR to a folder of its own.',
    );
  }
}

function openExclusively(path: string, pidFile: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, 'ledger.lock'));
    lock.exec('pragma journal_mode = memory; begin exclusive');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) {
      throw new StartError(
        `The data folder ${path} is in use by ${holder(pidFile)}. ` +
          'Stop that one first, or set DATA_DIR to another folder.',
      );
    }
    throw new StartError(`The data folder ${path} cannot be used: ${String(error)}`, { cause: error });
  }
}

function holder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
