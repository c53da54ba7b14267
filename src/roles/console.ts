/** What the console of the HTTP role is made of. */
import { join } from 'node:path';
import type { Knex } from 'knex';
import { createMailer } from '../clients/mail/mailer.ts';
import { createExecute } from '../commands/execute.ts';
import { rebuildDecider } from '../commands/rebuild.ts';
import { reconciliationDecider } from '../commands/reconciliation.ts';
import { sessionDecider } from '../commands/session.ts';
import { createResolveUnmatched, unmatchedDecider } from '../commands/unmatched-resolution.ts';
import type { Config } from '../config/config.ts';
import {
  readRebuildEvent,
  readReconciliationEvent,
  readSessionEvent,
  readUnmatchedEvent,
} from '../events/codec.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import type { Dependencies } from '../http/app.ts';

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
    executeRebuild: createExecute({ eventStore, decider: rebuildDecider, read: readRebuildEvent }),
    executeSession: createExecute({ eventStore, decider: sessionDecider, read: readSessionEvent }),
    resolveUnmatched: createResolveUnmatched({
      eventStore,
      execute: createExecute({ eventStore, decider: unmatchedDecider, read: readUnmatchedEvent }),
    }),
    executeDiscrepancy: createExecute({
      eventStore,
      decider: reconciliationDecider,
      read: readReconciliationEvent,
    }),
    mailer: createMailer({ mail: config.mail, outboxDir: join(config.dataDir, 'outbox') }),
  };
}
