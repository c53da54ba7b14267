/** Small files that are replaced as a whole: whoever reads one finds the old content or the new. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { codeOf } from './reason-of.ts';

/** Resolves once it is on disk. Makes the folder if there is none. */
export async function replaceFile(path: string, content: string): Promise<void> {
  makeFolder(dirname(path));
  await writeFile(`${path}.new`, content, { flush: true });
  await rename(`${path}.new`, path);
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
