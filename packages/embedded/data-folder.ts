/** The data folder, and the lock that keeps a second ledger from using it at the same time. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDiskFull } from '@ledger/kernel/disk-full.ts';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { codeOf, reasonOf } from '@ledger/kernel/reason-of.ts';
import { StartError } from './start-error.ts';

/** A file in a data folder whose restore from a backup is not complete. */
export const unfinishedRestore = 'unfinished-restore';

/** Its lock is that of the folder. To open and close it anywhere else in this process would release the lock. */
export const lockFile = 'ledger.lock';

/** SQLITE_BUSY: another connection holds the lock. */
const sqliteBusy = 5;

/** Keeps the connections from being garbage-collected, which would close the files and release the locks. */
const heldLocks = new Set<DatabaseSync>();

/**
 * Locks the data folder for this process, creates it if it does not exist, and closes it to other accounts (0700). The
 * lock covers everything in the folder: both embedded stores and the generated keys.
 *
 * It is a kernel lock on a file that SQLite opens. Unlike a pid file, it disappears with its process, even after kill
 * -9. The pid file next to it is used only in the error message.
 *
 * @throws StartError that names the process holding the lock, or says why the folder cannot be used
 */
export function lockDataFolder(dataDir: string) {
  const path = resolve(dataDir);
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw unusable(path, error);
  }
  closeToOthers(path);
  const pidFile = join(path, 'ledger.pid');
  const lock = openExclusively(path, pidFile);
  if (existsSync(join(path, unfinishedRestore))) {
    lock.close();
    throw new StartError(`A restore into ${path} was interrupted: empty the folder and restore again.`);
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  heldLocks.add(lock);
  return {
    /** Absolute. */
    path,
    /** Releases the lock. It is also released when this process ends, however it ends. */
    release(): void {
      if (heldLocks.delete(lock)) lock.close();
    },
  };
}

/**
 * Whether a process holds the lock of the folder. Its pid file cannot tell: after a power cut, another process may have
 * that number. It is also true if this account may not look: whatever reads the folder next will say so.
 */
export function isServed(dataDir: string): boolean {
  const file = join(dataDir, lockFile);
  let lock: DatabaseSync | undefined;
  try {
    statSync(file);
    lock = new DatabaseSync(file, { readOnly: true });
    lock.exec('pragma schema_version');
    return false;
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(codeOf(error));
  } finally {
    lock?.close();
  }
}

/** An existing folder may be open to all. A folder that accounts share, such as /tmp, is refused. */
function closeToOthers(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  const sticky = 0o1000;
  try {
    if ((mode & sticky) !== 0) throw new Error('its sticky bit says that accounts share it');
    chmodSync(path, 0o700);
  } catch (error) {
    throw new StartError(
      `The data folder ${path} is open to other accounts and cannot be closed to them: ${reasonOf(error)}. ` +
        'Set DATA_DIR to a folder of its own.',
    );
  }
}

function openExclusively(path: string, pidFile: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    // A command that looks at the lock (isServed) has it for a moment.
    lock = new DatabaseSync(join(path, lockFile), { timeout: 200 });
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
    throw unusable(path, error);
  }
}

/** Does `work` that writes to the folder. A full disk is a StartError that names it, as the system's own message does not. */
export async function namingFullDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(cause)) || isDiskFull(cause);
    throw isFull
      ? new StartError(`The disk of ${resolve(folder)} is full. Free space on it, and try again.`, { cause })
      : cause;
  }
}

/** The system's own message does not name DATA_DIR, and for a read-only disk it says that the folder is missing. */
function unusable(path: string, cause: unknown): StartError {
  const why = `The data folder ${path} cannot be used: ${reasonOf(cause)}.`;
  return new StartError(`${why} Set DATA_DIR to a folder that this account may write to.`, { cause });
}

const holder = (pidFile: string): string =>
  orElse(() => `process ${readFileSync(pidFile, 'utf8').trim()}`, 'another process');
