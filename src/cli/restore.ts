/** `ledger restore`: makes a data folder from a backup, ready for `npm start`. */
import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fillDataFolder, readBackupFolder } from '@ledger/embedded/backup-folder.ts';
import { newEventStoreCredentials, readEndpoints } from '@ledger/embedded/endpoints.ts';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { startPostgres } from '@ledger/embedded/postgres.ts';
import { readEnvironment } from '../config/environment-reader.ts';
import { readDataKeys } from '../config/personal-data.ts';
import { ConfigError } from '../config/yaml-file.ts';
import { createLog } from '../kernel/log.ts';
import { isUsed, writeKeyTables } from '../personal-data/key-backup.ts';
import { connectPostgres } from '../postgres/pool.ts';
import { openStores, type Running, stopAll } from '../roles/lifecycle.ts';
import { keyTableFiles, logFile } from './backup.ts';
import { type Command, readArgument, UsageError } from './command.ts';
import { destroyErased } from './keys.ts';
import { print } from './stores.ts';

export const restore: Command = {
  summary: 'makes the data folder DATA_DIR, which must be empty, from a backup',
  usage: '<folder of a backup>',
  options: {},
  takesArguments: true,
  async run(_, args) {
    const backup = readArgument(args, 'Name the folder of a backup');
    const names = await readBackupFolder(backup);
    const config = readConfiguration(backup);
    // Only this account may read what is made here.
    process.umask(0o077);
    const destroyed = await fillDataFolder(config.dataDir, async (path) => {
      for (const name of names)
        if (!keyTableFiles.some((each) => each === name))
          await copyFile(join(backup, name), join(path, name));
      return await restoreKeys(path, backup, config);
    });
    print(`${config.dataDir} is restored; ${destroyed} keys of erased personal data are destroyed again.`);
    return 0;
  },
};

/** With the keys of the backup, if it has any. Throws ConfigError. */
function readConfiguration(backup: string) {
  const env = readEnvironment(process.env, readEndpoints(backup));
  env.must('ESDB_URL', env.text('ESDB_URL') === '', 'not be set: only the embedded event store is restored');
  const read = {
    dataDir: env.text('DATA_DIR'),
    databaseUrl: env.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    dataKeys: readDataKeys(env),
  };
  if (env.faults.length > 0) throw new ConfigError(env.faults);
  return read;
}

/** Resolves to how many keys are destroyed again because the log says so. The stores are stopped afterwards. */
async function restoreKeys(
  path: string,
  backup: string,
  { databaseUrl, dataKeys }: ReturnType<typeof readConfiguration>,
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
    await writeKeyTables(db, linesOf(keyTableFiles.map((name) => join(backup, name))));
    const { credentials } = newEventStoreCredentials(path);
    const password = credentials.slice(credentials.indexOf(':') + 1);
    const file = join(path, logFile);
    const { port, close } = await startEventStore({ file, host: '127.0.0.1', port: 0, password });
    running.push({ stop: close });
    const esdbUrl = `esdb://${credentials}@127.0.0.1:${port}?tls=false`;
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
