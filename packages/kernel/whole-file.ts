/** Small files that are replaced as a whole: a reader finds either the old content or the new. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './reason-of.ts';

/** Resolves once it is on disk. Makes the folder if there is none. */
export async function replaceFile(path: string, content: string, mode = 0o666): Promise<void> {
  makeFolder(dirname(path));
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

/** Null if there is no such file. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
