/** Files that are written as a whole, or not at all: a reader finds either the old content or the new. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './reason-of.ts';

/** Resolves once it is on disk. Makes the folder if there is none. */
export async function replaceFile(path: string, content: string, mode = 0o666): Promise<void> {
  // Not looked for with makeFolder, which would keep this thread waiting for a disk that does not answer.
  await stat(dirname(path)).catch(() => makeFolder(dirname(path)));
  await writeFile(`${path}.new`, content, { flush: true, mode });
  await rename(`${path}.new`, path);
  syncToDisk(dirname(path));
}

/**
 * After it, the content of a file survives a power cut; for a folder, that files were made, renamed or removed in it.
 * Windows cannot open folders, and does not need this.
 */
export function syncToDisk(path: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(path, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Ctrl-C, `kill`, and a terminal that is closed. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Does `work`. Calls `discard` if it fails, or if a signal ends the process first, whose exit code is then 130. */
export async function orDiscard(discard: () => void, work: () => Promise<void>): Promise<void> {
  const end = () => {
    discard();
    process.exit(130);
  };
  for (const signal of endings) process.once(signal, end);
  try {
    await work();
  } catch (error) {
    discard();
    throw error;
  } finally {
    for (const signal of endings) process.off(signal, end);
  }
}

/** Null if there is no such file. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
