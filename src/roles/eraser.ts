/** Assembles what erases personal data, for the console, the command line and the reactors. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dropLeftovers } from '@ledger/projections/rebuild/leftovers.ts';
import type { Knex } from 'knex';
import type { Config } from '../config/config.ts';
import { createErase } from '../personal-data/erase.ts';
import { allProjections } from '../projections/all.ts';
import { deliveryList } from '../to-do/delivery-list.ts';
import { requeryList } from '../to-do/requery-list.ts';
import type { RoleDependencies } from './stores.ts';

type Dependencies = Pick<RoleDependencies, 'eventStore' | 'personalData' | 'runtime'> & {
  config: Pick<Config, 'databaseUrl' | 'dataDir'> & { mail: Pick<Config['mail'], 'smtpUrl'> };
};

export function createEraser({ config, eventStore, personalData, runtime }: Dependencies, db: Knex) {
  const { store } = personalData;
  const leftovers = { db, databaseUrl: config.databaseUrl, runtime, signal: new AbortController().signal };
  /** `ledger verify` makes shadow tables of the to-do lists, too. */
  const made = [...allProjections, deliveryList, requeryList];
  const drop = (unlessSince: Date | null = null) => dropLeftovers(made, { ...leftovers, unlessSince });
  const erase = createErase({
    store,
    eventStore,
    async onErased(subjects, isLate) {
      // The outbox holds the emails of a time without a mail server. Those that a server took are in the payer's mailbox.
      const outbox = join(config.dataDir, 'outbox');
      const files = existsSync(outbox) ? await readdir(outbox) : [];
      const isTheirs = (file: string) => subjects.includes(/^\.?([^-]+)-/.exec(file)?.[1] ?? '');
      for (const file of files.filter(isTheirs)) await rm(join(outbox, file), { force: true });
      // An email that was on its way into it is there a minute later.
      return (await drop()) && (isLate || config.mail.smtpUrl !== null);
    },
    runtime,
  });
  return { erase, erasures: store.erasures, dropLeftovers: drop };
}
