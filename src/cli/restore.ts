/** `ledger restore`: makes a data folder from a backup, ready for `npm start`. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { lockDataFolder, unfinishedRestore } from '@ledger/embedded/data-folder.ts';
import { newEventStoreCredentials, type Variables } from '@ledger/embedded/endpoints.ts';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { startPostgres } from '@ledger/embedded/postgres.ts';
import { is, record, string } from 'superstruct';
import { readEnvironment } from '../config/environment-reader.ts';
import { readDataKeys } from '../config/personal-data.ts';
import { ConfigError } from '../config/yaml-file.ts';
import { createLog } from '../kernel/log.ts';
import { isUsed, writeKeyTables } from '../personal-data/key-backup.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { openStores, type Running, stopAll } from '../roles/lifecycle.ts';
import { keyFiles, keysFile, logFile, Manifest, manifestFile } from './backup.ts';
import { type Command, readArgument, UsageError } from './command.ts';
import { destroyErased } from './keys.ts';
import { print } from './stores.ts';

export const restore: Command = {
  summary: 'makes the data folder DATA_DIR, which must be empty, from a backup',
  usage: '<folder of a backup>',
  options: {},
  takesArguments: true,
  async run(_, args) {
    const from = readArgument(args, 'Name the folder of a backup');
    const names = await checkedFiles(from);
    const { dataDir, databaseUrl, dataKeys } = readConfiguration(join(from, keysFile));
    if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
      throw new UsageError(`${dataDir} is not empty. Name an empty or new folder in DATA_DIR`);
    // Only this account may read what is made here.
    process.umask(0o077);
    const folder = lockDataFolder(dataDir);
    const mark = join(folder.path, unfinishedRestore);
    writeFileSync(mark, '');
    try {
      const target = { path: folder.path, databaseUrl, dataKeys };
      for (const name of names)
        if (!isKeyFile(name)) await copyFile(join(from, name), join(folder.path, name));
      const erased = await restoreKeys(
        target,
        names.filter(isKeyFile).map((name) => join(from, name)),
      );
      rmSync(mark);
      print(`${folder.path} is restored; ${erased} keys of erased personal data are destroyed again.`);
      if (!names.includes(keysFile))
        print('The backup has no keys: give the ledger the keys that it had when the backup was made.');
      return 0;
    } catch (error) {
      for (const name of readdirSync(folder.path)) rmSync(join(folder.path, name), { recursive: true });
      throw error;
    } finally {
      folder.release();
    }
  },
};

const isKeyFile = (name: string) => keyFiles.some((each) => each === name);

/** The names of the files in a backup, which are whole. Throws UsageError. */
async function checkedFiles(folder: string): Promise<string[]> {
  const manifest = readJson(join(folder, manifestFile));
  if (!is(manifest, Manifest)) throw new UsageError(`${folder} is not a backup: it has no ${manifestFile}`);
  for (const { name, sha256 } of manifest.files) {
    // keys.json may be kept in another place.
    if (name === keysFile && !existsSync(join(folder, name))) continue;
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    if (hash.digest('hex') !== sha256) throw new UsageError(`${name} in ${folder} is not as it was written`);
  }
  return manifest.files.map(({ name }) => name).filter((name) => existsSync(join(folder, name)));
}

function readJson(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Throws ConfigError. */
function readConfiguration(keysPath: string) {
  const keys = readJson(keysPath) ?? {};
  const provided: Variables = is(keys, record(string(), string())) ? keys : {};
  const env = readEnvironment(process.env, provided);
  env.must('ESDB_URL', env.text('ESDB_URL') === '', 'not be set: only the embedded event store is restored');
  const read = {
    dataDir: env.text('DATA_DIR'),
    databaseUrl: env.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    dataKeys: readDataKeys(env),
  };
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return read;
}

type Target = { path: string; databaseUrl: string; dataKeys: ReturnType<typeof readDataKeys> };

/** Resolves to how many keys are destroyed again because the log says so. The stores are stopped afterwards. */
async function restoreKeys(
  { path, databaseUrl, dataKeys }: Target,
  files: readonly string[],
): Promise<number> {
  const log = createLog('warn', 'restore');
  const running: Running[] = [];
  try {
    const postgres = databaseUrl === '' ? await startPostgres({ dataDir: path, log }) : null;
    if (postgres) running.push(postgres);
    const url = postgres?.url ?? databaseUrl;
    const db = connectPostgres({ url, log });
    running.push({ stop: () => db.destroy() });
    if (await isUsed(db)) throw new UsageError('A ledger has used the database of DATABASE_URL before');
    await writeKeyTables(db, linesOf(files));
    const { credentials } = newEventStoreCredentials(path);
    const password = credentials.slice(credentials.indexOf(':') + 1);
    const eventStore = await startEventStore({
      file: join(path, logFile),
      host: '127.0.0.1',
      port: 0,
      password,
    });
    running.push({ stop: eventStore.close });
    const esdbUrl = `esdb://${credentials}@127.0.0.1:${eventStore.port}?tls=false`;
    const stores = openStores({ databaseUrl: url, dataKeys, esdbUrl }, log);
    running.push(stores);
    return await destroyErased(stores.personalData.store, stores.eventStore);
  } finally {
    await stopAll(running);
  }
}

async function* linesOf(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files) yield* createInterface({ input: createReadStream(file) });
}
