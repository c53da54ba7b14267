/** What the console of the HTTP role is made of. */
import { join } from 'node:path';
import type { Knex } from 'knex';
import { createMailer } from '../clients/mail/mailer.ts';
import { createExecute } from '../commands/execute.ts';
import { rebuildDecider } from '../commands/rebuild.ts';
import { reconciliationDecider } from '../commands/reconciliation.ts';
import { createExecuteSession } from '../commands/session.ts';
import { unmatchedDecider } from '../commands/unmatched.ts';
import type { Config } from '../config/config.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Dependencies } from '../http/app.ts';
import { systemRuntime } from '../kernel/system-runtime.ts';

export function createConsole({
  config,
  db,
  eventStore,
  closing,
}: {
  config: Config;
  db: Knex;
  eventStore: EventStore;
  /** Aborts when the process is asked to end. */
  closing: AbortSignal;
}): Dependencies['console'] {
  return {
    db,
    closing,
    executeRebuild: createExecute({ eventStore, decider: rebuildDecider }),
    executeSession: createExecuteSession(eventStore),
    executeUnmatched: createExecute({ eventStore, decider: unmatchedDecider }),
    executeDiscrepancy: createExecute({ eventStore, decider: reconciliationDecider }),
    mailer: createMailer({
      mail: config.mail,
      outboxDir: join(config.dataDir, 'outbox'),
      runtime: systemRuntime,
    }),
  };
}
