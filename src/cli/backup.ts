/**
 * `ledger backup`: copies, while the ledger runs, what a ledger on one machine cannot make again. Read models and to-do
 * lists are left out, because they are made again from the log.
 */
import { createReadStream, existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { keysFile, type Save, writeBackupFolder } from '@ledger/embedded/backup-folder.ts';
import { namingFullDisk } from '@ledger/embedded/data-folder.ts';
import { assertUndamaged, readBackup } from '@ledger/embedded/eventstore/backup.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { readKeyTables } from '@ledger/personal-data/key-backup.ts';
import { type CommandOf, readArgument } from './command.ts';
import { withStores } from './stores.ts';

/** In the data folder: when it was last backed up. */
export const lastBackupFile = 'last-backup';
export const logFile = 'eventstore.db';
/** Two, because keys are read before the log and after it. */
export const keyTableFiles = ['personal-data-1.jsonl', 'personal-data-2.jsonl'] as const;

export const command: CommandOf<'backup'> = async (_, args) => {
  const folder = readArgument(args, 'Name a folder that does not exist yet');
  return await withStores('backup', { onlyReads: true }, async ({ config, db, runtime }) => {
    const { dataDir, esdbUrl } = config;
    // In this order, so that all fits the log (decision 42): what must not be ahead of it is copied first.
    const first = [keysFile, 'last-checkpoint'].filter((name) => existsSync(join(dataDir, name)));
    const madeAt = runtime.now();
    const fill = async (save: Save) => {
      for (const name of first) await save(name, createReadStream(join(dataDir, name)));
      const known = new Set<string>();
      await save(keyTableFiles[0], readKeyTables(db, known));
      assertUndamaged(await save(logFile, readBackup(esdbUrl)));
      await save(keyTableFiles[1], readKeyTables(db, known));
    };
    await namingFullDisk(dirname(resolve(folder)), () => writeBackupFolder(folder, { madeAt, fill }));
    // The backup is whole without it: where the stores are elsewhere, there may be no data folder.
    const noted = writeFile(join(dataDir, lastBackupFile), `${madeAt.toISOString()}\n`, { mode: 0o600 });
    const unseen = await noted.then(
      () => '',
      (error) => `\n\`ledger status\` will not show it: ${reasonOf(error)}`,
    );
    const hasKeys = first.includes(keysFile);
    const advice = hasKeys
      ? 'keys.json is secret: with it, the folder opens all personal data. Keep it in another place than the rest.'
      : 'It has no keys: keep TRANSACTION_ID_KEY, LINK_KEY, DATA_KEY and SEAL_KEY in another place than this folder.';
    return { data: { folder, madeAt, hasKeys }, text: `The backup is in ${folder}.\n${advice}${unseen}` };
  });
};
