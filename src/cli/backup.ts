/**
 * `ledger backup`: what a ledger on one machine cannot make again, copied while it runs. Read models and to-do lists are
 * left out: the log brings them back.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readBackup } from '@ledger/embedded/eventstore/backup.ts';
import { array, type Infer, object, string } from 'superstruct';
import { systemRuntime } from '../kernel/system-runtime.ts';
import { readKeyTables } from '../personal-data/key-backup.ts';
import { type Command, readArgument, UsageError } from './command.ts';
import { print, withStores } from './stores.ts';

export const keysFile = 'keys.json';
/** Files of the data folder that are copied if they are there, before the log: none may be ahead of it. */
const copied = [keysFile, 'last-checkpoint'] as const;
export const manifestFile = 'backup.json';
export const logFile = 'eventstore.db';
/** Two, because keys are read before the log and after it. */
export const keyFiles = ['personal-data-1.jsonl', 'personal-data-2.jsonl'] as const;

/** The file backup.json: all others with their SHA-256, in hex. */
export const Manifest = object({
  madeAt: string(),
  files: array(object({ name: string(), sha256: string() })),
});
type File = Infer<typeof Manifest>['files'][number];

export const backup: Command = {
  summary: 'copies the embedded event store, the keys of personal data and keys.json while the ledger runs',
  usage: '<new folder>',
  options: {},
  takesArguments: true,
  async run(_, args) {
    const folder = resolve(readArgument(args, 'Name a folder that does not exist yet'));
    if (existsSync(folder)) throw new UsageError(`${folder} exists and is not overwritten`);
    const draft = `${folder}.${process.pid}.part`;
    mkdirSync(dirname(folder), { recursive: true });
    mkdirSync(draft, { mode: 0o700 });
    try {
      const hasKeys = await fill(draft);
      renameSync(draft, folder);
      print(`The backup is in ${folder}.`);
      print(
        hasKeys
          ? 'keys.json is secret: with it, this folder opens all personal data. Keep it in another place than the rest.'
          : 'It has no keys: keep TRANSACTION_ID_KEY, LINK_KEY, DATA_KEY and SEAL_KEY in another place than this folder.',
      );
      return 0;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  },
};

/**
 * Resolves to whether the ledger has a file of keys. Keys of personal data that are destroyed meanwhile are in the backup
 * as they were before: at the restore the log decides which are destroyed. Those made meanwhile are in the second file,
 * so that every event in the log finds its key.
 */
async function fill(folder: string): Promise<boolean> {
  const files: File[] = [];
  const save = async (name: string, bytes: Bytes) => {
    files.push({ name, sha256: await write(join(folder, name), bytes) });
  };
  await withStores('backup', async ({ config: { dataDir, esdbUrl }, db }) => {
    for (const name of copied)
      if (existsSync(join(dataDir, name))) await save(name, createReadStream(join(dataDir, name)));
    const known = new Set<string>();
    await save(keyFiles[0], readKeyTables(db, known));
    await save(logFile, readBackup(esdbUrl));
    await save(keyFiles[1], readKeyTables(db, known));
    return 0;
  });
  const manifest: Infer<typeof Manifest> = { madeAt: systemRuntime.now().toISOString(), files };
  await write(join(folder, manifestFile), [`${JSON.stringify(manifest, null, 2)}\n`]);
  return files.some(({ name }) => name === keysFile);
}

type Bytes = Iterable<string> | AsyncIterable<string | Buffer>;

/** Resolves to the SHA-256 of what is on the disk now. */
async function write(file: string, bytes: Bytes): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(
    Readable.from(bytes),
    async function* (pieces: AsyncIterable<string | Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece);
        yield piece;
      }
    },
    createWriteStream(file, { mode: 0o600, flush: true }),
  );
  return hash.digest('hex');
}
