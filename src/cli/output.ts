/** Where a command's document goes: the terminal, or a file that `--output` names. */
import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, reasonOf } from '@ledger/kernel/reason-of.ts';
import { orDiscard, syncToDisk } from '@ledger/kernel/whole-file.ts';
import { UsageError, type WriteDocument } from './command.ts';

/**
 * A file is first written under another name, and renamed once it is completely on disk, so that an interrupted one is
 * never mistaken for a complete one; an interrupted command leaves no file. Only this account can read it.
 * Throws UsageError if it exists, now or by the time that it is renamed, because it is never overwritten.
 */
export function openOutput(path: string | undefined): WriteDocument {
  if (path !== undefined) assertFree(path);
  return async (pieces) => {
    if (path === undefined) await pipeline(pieces, process.stdout, { end: false });
    else await writeWhole(pieces, path);
    return 0;
  };
}

function assertFree(path: string): void {
  if (existsSync(path)) throw new UsageError(`${path} exists and is not overwritten`);
  const folder = dirname(path);
  if (!existsSync(folder)) throw new UsageError(`${path} cannot be written: there is no folder ${folder}`);
}

async function writeWhole(pieces: AsyncIterable<string | Uint8Array>, path: string): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  const file = await open(draft, 'wx', 0o600);
  await orDiscard(
    () => rmSync(draft, { force: true }),
    async () => {
      await pipeline(pieces, file.createWriteStream({ flush: true })).catch((error) => {
        // A failure to write, unlike one to open, names no file.
        if (['ENOSPC', 'EDQUOT', 'EIO'].includes(codeOf(error)))
          error.message = `${path} cannot be written: ${reasonOf(error)}`;
        throw error;
      });
      // Writing may take minutes. (A link would fail by itself, but a memory stick has no links.)
      assertFree(path);
      await rename(draft, path);
      syncToDisk(dirname(path));
    },
  );
}
