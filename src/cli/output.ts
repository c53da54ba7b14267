/** Where a command's document goes: the terminal, or a file that `--output` names. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UsageError } from './command.ts';

/** Call it before reading anything. Throws UsageError when the file exists, because it is never overwritten. */
export function checkOutput(path: string | undefined): void {
  if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists and is not overwritten`);
}

/**
 * A file is first written under another name, and renamed once it is completely on disk, so that an interrupted one is
 * never mistaken for a complete one. Only this account can read it.
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
