/** What the console needs from the rest of the program. */
import type { Knex } from 'knex';
import type { Mailer } from '../../clients/mail/mailer.ts';
import type { TransactionRegistry } from '../../clients/transaction-registry/registry.ts';
import type { ExecuteOf } from '../../commands/execute.ts';
import type { paymentDecider } from '../../commands/payment.ts';
import type { rebuildDecider } from '../../commands/rebuild.ts';
import type { reconciliationDecider } from '../../commands/reconciliation.ts';
import type { RecordAnswer } from '../../commands/record-requery.ts';
import type { sessionDecider } from '../../commands/session.ts';
import type { sharedNumberDecider } from '../../commands/shared-numbers.ts';
import type { unmatchedDecider } from '../../commands/unmatched.ts';
import type { userDecider } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import type { PersonalDataReader } from '../../events/personal-data.ts';
import type { Account } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { Erase } from '../../personal-data/erase.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
import type { Followed } from '../../projections/runtime/projection.ts';

export type ConsoleDependencies = {
  config: Pick<
    Config,
    'approvalAboveSen' | 'baseUrl' | 'linkKeys' | 'merchants' | 'passkeysRequired' | 'transactionIdKey'
  >;
  execute: ExecuteOf<typeof paymentDecider>;
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'firstAfter' | 'head' | 'subscribe'>;
  personalData: PersonalDataReader;
  registry: TransactionRegistry;
  recordAnswer: RecordAnswer;
  log: Log;
  runtime: Runtime;
  content: {
    executeUser: ExecuteOf<typeof userDecider>;
    users: ListQueries<Account>;
    projections: readonly Followed[];
    /** Rejects when Postgres is down. */
    projectionStatus(): Promise<readonly ProjectionStatus[]>;
  };
  console: {
    executeSession: ExecuteOf<typeof sessionDecider>;
    executeUnmatched: ExecuteOf<typeof unmatchedDecider>;
    executeSharedNumber: ExecuteOf<typeof sharedNumberDecider>;
    executeDiscrepancy: ExecuteOf<typeof reconciliationDecider>;
    executeRebuild: ExecuteOf<typeof rebuildDecider>;
    mailer: Mailer;
    erase: Erase;
    /** Aborts when the process is asked to stop, which ends open streams of events. */
    closing: AbortSignal;
    /** For the queries of src/projections; they reject within a few seconds when Postgres is down. */
    db: Knex;
  };
};
