/** Where a command's document goes: the terminal, or a file that `--output` names. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UsageError } from './command.ts';

/** To be called before anything is read. Throws UsageError when the file exists: it is never overwritten. */
export function checkOutput(path: string | undefined): void {
  if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists and is not overwritten`);
}

/**
 * A file is written under another name first and renamed once all of it is on the disk, so that an interrupted one is
 * never mistaken for the whole. Only this account can read it.
 */
export async function writeOutput(
  pieces: AsyncIterable<string | Uint8Array>,
  path: string | undefined,
): Promise<void> {
  if (path === undefined) return await pipeline(pieces, process.stdout, { end: false });
  const draft = `${path}.${process.pid}.part`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await pipeline(pieces, file.createWriteStream({ flush: true }));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
