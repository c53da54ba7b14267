/** Whether a file that somebody named can be read, asked before anything is begun. */
import { accessSync, constants, statSync } from 'node:fs';
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
