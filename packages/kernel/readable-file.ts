/** Files that somebody named: whether one can be read, asked before anything is begun; its text; whether any has changed. */
import { isUtf8 } from 'node:buffer';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { getSystemErrorMessage } from 'node:util';

/** Why it cannot, as the end of a sentence about it; null if it can. A pipe can, and a folder cannot. */
export function faultOfFile(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isDirectory() ? 'is a folder, not a file' : null;
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    return `cannot be read: ${getSystemErrorMessage(errno)}`;
  }
}

const longestText = 1024 * 1024;

/**
 * The text of a file that people write. Throws if it cannot be read or is no text: a file that a crash has left full of
 * zeros would be a key that everybody has, since HMAC fills up a short key with zeros.
 */
export function readText(path: string | URL): string {
  // Another file under this name, such as a dump, would take the process minutes and all its memory.
  if (statSync(path).size > longestText) throw new Error('it is larger than 1 MiB');
  const bytes = readFileSync(path);
  const text = bytes.toString();
  if (!isUtf8(bytes) || /(?!\s)\p{Cc}/u.test(text)) throw new Error('it is not a text in UTF-8');
  return text;
}

/** Differs once a file was written, replaced, deleted or created. Never rejects. */
export async function stateOfFiles(files: readonly string[]): Promise<string> {
  const states: unknown[] = [];
  // One after the other: on a disk that does not answer, each would take one of Node's four threads.
  for (const file of files)
    try {
      const { ctimeMs, ino, mtimeMs, size } = await stat(file);
      states.push([file, ino, size, mtimeMs, ctimeMs]);
    } catch (error) {
      states.push([file, (error as NodeJS.ErrnoException).code]);
    }
  return JSON.stringify(states);
}
