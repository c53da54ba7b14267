/** Where a command's document goes: the terminal, or a file that `--output` names. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { keepFilesPrivate, UsageError } from './command.ts';

type Pieces = AsyncIterable<string | Uint8Array>;

/** Before anything is read: a file that is there is not written over. Throws UsageError. */
export function checkOutput(path: string | undefined): void {
  if (path !== undefined && existsSync(path))
    throw new UsageError(`${path} is there already and is not written over`);
}

/**
 * A file is written beside its place first, and takes its name once all of it is on the disk: what was interrupted is
 * never taken for the whole. For the eyes of this account alone.
 */
export async function writeOutput(pieces: Pieces, path: string | undefined): Promise<void> {
  if (path === undefined) return await pipeline(pieces, process.stdout, { end: false });
  keepFilesPrivate();
  const beside = `${path}.${process.pid}.part`;
  const file = await open(beside, 'wx');
  try {
    await pipeline(pieces, file.createWriteStream({ flush: true }));
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
