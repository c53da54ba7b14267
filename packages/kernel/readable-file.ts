/** Files that somebody named: whether one can be read, asked before anything is begun, and whether any has changed. */
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

/** Differs once a file was written, replaced, deleted or created. */
export function stateOfFiles(files: readonly string[]): string {
  const states = files.map((file) => {
    try {
      const { ctimeMs, ino, mtimeMs, size } = statSync(file);
      return [file, ino, size, mtimeMs, ctimeMs];
    } catch (error) {
      return [file, (error as NodeJS.ErrnoException).code];
    }
  });
  return JSON.stringify(states);
}
