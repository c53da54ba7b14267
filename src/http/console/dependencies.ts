/** What the console needs from the rest of the program. */
import type { Knex } from 'knex';
import type { Mailer } from '../../clients/mail/mailer.ts';
import type { TransactionRegistry } from '../../clients/registry/registry.ts';
import type { Execute } from '../../commands/execute.ts';
import type { PaymentCommand } from '../../commands/payment.ts';
import type { RebuildCommand } from '../../commands/rebuild.ts';
import type { ReconciliationCommand } from '../../commands/reconciliation.ts';
import type { SessionCommand } from '../../commands/session.ts';
import type { ResolveUnmatchedResult } from '../../commands/unmatched.ts';
import type { UserCommand } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import type { Payment, PaymentEvent } from '../../events/payment.ts';
import type { RebuildEvent, Rebuilds } from '../../events/rebuild.ts';
import type { Discrepancy, ReconciliationEvent } from '../../events/reconciliation.ts';
import type { Session, SessionEvent } from '../../events/session.ts';
import type { ResolvedUnmatched, UnmatchedEvent } from '../../events/unmatched.ts';
import type { Account, UserEvent } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
import type { Projection } from '../../projections/runtime/projection.ts';

export type ConsoleDependencies = {
  config: Pick<Config, 'baseUrl' | 'merchants' | 'transactionIdKey'>;
  execute: Execute<Payment, PaymentCommand, PaymentEvent>;
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'firstAfter' | 'head'>;
  registry: TransactionRegistry;
  log: Log;
  runtime: Runtime;
  content: {
    executeUser: Execute<Account | null, UserCommand, UserEvent>;
    users: ListQueries<Account>;
    projections: readonly Projection[];
    /** Rejects when Postgres is down. */
    projectionStatus(): Promise<readonly ProjectionStatus[]>;
  };
  /** What no other interface needs. */
  console: {
    executeSession: Execute<Session | null, SessionCommand, SessionEvent>;
    executeUnmatched: Execute<ResolvedUnmatched | null, ResolveUnmatchedResult, UnmatchedEvent>;
    executeDiscrepancy: Execute<Discrepancy | null, ReconciliationCommand, ReconciliationEvent>;
    executeRebuild: Execute<Rebuilds, RebuildCommand, RebuildEvent>;
    mailer: Mailer;
    /** Aborts when the process is asked to stop: open streams of events end with it. */
    closing: AbortSignal;
    /** For the queries of src/projections; they reject within a few seconds when Postgres is down. */
    db: Knex;
  };
};
