/** `ledger restore`: makes a data folder from a backup, ready for `npm start`. */
import { createReadStream } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fillDataFolder, readBackupFolder } from '@ledger/embedded/backup-folder.ts';
import { namingFullDisk } from '@ledger/embedded/data-folder.ts';
import { newEventStoreCredentials, readEndpoints } from '@ledger/embedded/endpoints.ts';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { startPostgres } from '@ledger/embedded/postgres.ts';
import { StartError } from '@ledger/embedded/start-error.ts';
import { createLog } from '@ledger/kernel/log.ts';
import { writeKeyTables } from '@ledger/personal-data/key-backup.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { type Running, stopAll } from '../roles/lifecycle.ts';
import { openStores } from '../roles/stores.ts';
import { keyTableFiles, logFile } from './backup.ts';
import { type CommandOf, readArgument, UsageError } from './command.ts';
import { destroyErased } from './keys.ts';

export const command: CommandOf<'restore'> = async (_, args) => {
  const backup = readArgument(args, 'Name the folder of a backup');
  const names = await readBackupFolder(backup);
  // Without the log, the ledger would start empty. Without its keys, all personal data would be lost.
  const missing = [logFile, ...keyTableFiles].find((name) => !names.includes(name));
  if (missing !== undefined)
    throw new StartError(`${backup} is not the backup of a ledger: it has no ${missing}.`);
  // With the keys of the backup, if it has any.
  const config = loadConfig(process.env, readEndpoints(backup), {
    uses: ['DATA_KEY', 'DATA_KEY_PREVIOUS'],
  });
  if (config.esdbUrl !== '')
    throw new UsageError('ESDB_URL must not be set: only the embedded event store is restored');
  // Only this account may read what is made here.
  process.umask(0o077);
  const fill = async (path: string) => {
    for (const name of names)
      if (!keyTableFiles.some((each) => each === name)) await copyFile(join(backup, name), join(path, name));
    return await restoreKeys(path, backup, config);
  };
  const destroyed = await namingFullDisk(config.dataDir, () => fillDataFolder(config.dataDir, fill));
  const text = `${config.dataDir} is restored; ${destroyed} keys of erased personal data are destroyed again.`;
  return { data: { folder: config.dataDir, destroyed }, text };
};

/** Resolves to how many keys are destroyed again because the log says so. The stores are stopped afterwards. */
async function restoreKeys(
  path: string,
  backup: string,
  { databaseUrl, dataKeys }: Pick<Config, 'databaseUrl' | 'dataKeys'>,
): Promise<number> {
  const log = createLog('warn', 'restore', 'stderr');
  const running: Running[] = [];
  try {
    const postgres = databaseUrl === '' ? await startPostgres({ dataDir: path, log }) : null;
    if (postgres) running.push(postgres);
    const { credentials } = await newEventStoreCredentials(path);
    const password = credentials.slice(credentials.indexOf(':') + 1);
    const file = join(path, logFile);
    const { port, close } = await startEventStore({ file, host: '127.0.0.1', port: 0, password });
    running.push({ stop: close });
    const esdbUrl = `esdb://${credentials}@127.0.0.1:${port}?tls=false`;
    const stores = openStores({ databaseUrl: postgres?.url ?? databaseUrl, dataKeys, esdbUrl }, log);
    running.push(stores);
    const { rows } = await stores.db.raw(`select to_regnamespace('personal_data') is not null as "isUsed"`);
    if (rows[0]?.isUsed)
      throw new UsageError(
        'DATABASE_URL must name an empty database: a ledger, or an interrupted restore, has used this one',
      );
    await writeKeyTables(stores.db, linesOf(keyTableFiles.map((name) => join(backup, name))));
    return await destroyErased(stores.personalData.store, stores.eventStore);
  } finally {
    await stopAll(running);
  }
}

async function* linesOf(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files) yield* createInterface({ input: createReadStream(file) });
}
