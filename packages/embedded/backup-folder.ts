/** The folder of a backup, which is complete or not there, and the data folder that a backup becomes. */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { orDiscard, syncToDisk } from '@ledger/kernel/whole-file.ts';
import { array, is, object, pattern, string } from 'superstruct';
import { lockDataFolder, lockFile, unfinishedRestore } from './data-folder.ts';
import { StartError } from './start-error.ts';

/** The file that names all others with their SHA-256, in hex. */
const manifestFile = 'backup.json';
/** A name and no path, so that nothing is restored outside the folder. */
const fileName = pattern(string(), /^\w[\w.-]*$/);
const Manifest = object({ madeAt: string(), files: array(object({ name: fileName, sha256: string() })) });

/** The file of the keys. A backup has it if the ledger generated them; it may be kept apart from the rest. */
export const keysFile = 'keys.json';

type Bytes = Iterable<string> | AsyncIterable<string | Buffer>;
/** Resolves to the path of the file. */
export type Save = (name: string, bytes: Bytes) => Promise<string>;

/**
 * Makes a new folder with what `fill` saves, for this account alone; Ctrl-C leaves nothing of it. Throws StartError if
 * there is such a folder.
 */
export async function writeBackupFolder(
  folder: string,
  { madeAt, fill }: { madeAt: Date; fill: (save: Save) => Promise<unknown> },
): Promise<void> {
  if (existsSync(folder)) throw new StartError(`${folder} exists and is not overwritten.`);
  const draft = `${resolve(folder)}.${process.pid}.part`;
  makeFolder(dirname(draft));
  mkdirSync(draft, { mode: 0o700 });
  await orDiscard(
    // A file that is being opened meanwhile appears after the others.
    () => rmSync(draft, { recursive: true, force: true, maxRetries: 5 }),
    async () => {
      const files: { name: string; sha256: string }[] = [];
      await fill(async (name, bytes) => {
        const file = join(draft, name);
        files.push({ name, sha256: await write(file, bytes) });
        return file;
      });
      const manifest = { madeAt: madeAt.toISOString(), files };
      await write(join(draft, manifestFile), [`${JSON.stringify(manifest, null, 2)}\n`]);
      syncToDisk(draft);
      renameSync(draft, folder);
      syncToDisk(dirname(draft));
    },
  );
}

/** Resolves to the SHA-256 of what is on the disk now. */
async function write(file: string, bytes: Bytes): Promise<string> {
  const hash = createHash('sha256');
  const hashed = async function* (pieces: AsyncIterable<string | Buffer>) {
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  };
  await pipeline(Readable.from(bytes), hashed, createWriteStream(file, { mode: 0o600, flush: true }));
  return hash.digest('hex');
}

/** The names of the files in a backup, which are as they were written. Throws StartError. */
export async function readBackupFolder(folder: string): Promise<string[]> {
  const file = join(folder, manifestFile);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const manifest: unknown = orElse(() => JSON.parse(text), null);
  if (!is(manifest, Manifest))
    throw new StartError(`${folder} is not a backup: it has no ${manifestFile}, or an invalid one.`);
  const present = manifest.files.filter(({ name }) => name !== keysFile || existsSync(join(folder, name)));
  for (const { name, sha256 } of present) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    if (hash.digest('hex') !== sha256) throw new StartError(`${name} in ${folder} is not as it was written.`);
  }
  return present.map(({ name }) => name);
}

/**
 * Runs `fill` on a data folder, which must be empty or new and is locked meanwhile. If it fails, the folder is empty
 * again; if this process is killed, no ledger starts on it. Throws StartError.
 */
export async function fillDataFolder<T>(dataDir: string, fill: (path: string) => Promise<T>): Promise<T> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new StartError(`${dataDir} is not empty: set DATA_DIR to an empty or new folder.`);
  const { path, release } = lockDataFolder(dataDir);
  const mark = join(path, unfinishedRestore);
  try {
    writeFileSync(mark, '');
    syncToDisk(path);
    const filled = await fill(path);
    for (const name of readdirSync(path)) if (name !== lockFile) syncToDisk(join(path, name));
    rmSync(mark);
    syncToDisk(path);
    return filled;
  } catch (error) {
    // The mark last, because this process may be killed in between.
    const others = readdirSync(path).filter((name) => name !== unfinishedRestore);
    for (const name of [...others, unfinishedRestore])
      rmSync(join(path, name), { recursive: true, force: true });
    throw error;
  } finally {
    release();
  }
}
