/** Assembles what erases personal data, for the console, the command line and the reactors. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { createExecute } from '../commands/execute.ts';
import { paymentDecider } from '../commands/payment.ts';
import { createErase } from '../personal-data/erase.ts';
import { createErasures } from '../personal-data/erasures.ts';
import type { RoleDependencies } from './lifecycle.ts';

export function createEraser({ config, eventStore, personalData, runtime }: RoleDependencies, db: Knex) {
  const erasures = createErasures(db);
  const erase = createErase({
    store: personalData.store,
    erasures,
    eventStore,
    execute: createExecute({ eventStore, decider: paymentDecider }),
    // Without a mail server the outbox holds what was sent. Emails that a server took are in the payer's mailbox.
    async onErased(transactionId) {
      if (config.mail.smtpUrl === null)
        await rm(join(config.dataDir, 'outbox', `${transactionId}-email.eml`), { force: true });
    },
    runtime,
  });
  return { erase, erasures };
}
