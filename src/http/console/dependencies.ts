/** What the console is made of. Every page and action is handed all of it and names the few things it uses. */
import type { Knex } from 'knex';
import type { Mailer } from '../../clients/mail/mailer.ts';
import type { TransactionRegistry } from '../../clients/registry/registry.ts';
import type { Execute } from '../../commands/execute.ts';
import type { PaymentCommand } from '../../commands/payment.ts';
import type { RebuildCommand } from '../../commands/rebuild.ts';
import type { ReconciliationCommand } from '../../commands/reconciliation.ts';
import type { SessionCommand } from '../../commands/session.ts';
import type { ResolveUnmatched } from '../../commands/unmatched-resolution.ts';
import type { UserCommand } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import type { Payment, PaymentEvent } from '../../events/payment.ts';
import type { RebuildEvent, Rebuilds } from '../../events/rebuild.ts';
import type { Difference, ReconciliationEvent } from '../../events/reconciliation.ts';
import type { Session, SessionEvent } from '../../events/session.ts';
import type { Account, UserEvent } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import { rebuildStandings } from '../../projections/rebuild/queries.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import type { ListQueries } from '../../projections/runtime/list-queries.ts';
import type { Projection } from '../../projections/runtime/projection.ts';
import { createRecordAccess } from './frame/access-log.ts';
import { createConsoleAssets } from './frame/assets.ts';
import { createShowPage } from './frame/frame.ts';
import { createReturnTo } from './frame/return-to.ts';
import { createSessions } from './frame/session.ts';
import { createLookAtRebuilds } from './projections/rebuilds.ts';

/** What no other interface needs. */
export type OwnDependencies = {
  executeSession: Execute<Session | null, SessionCommand, SessionEvent>;
  executeDiscrepancy: Execute<Difference | null, ReconciliationCommand, ReconciliationEvent>;
  executeRebuild: Execute<Rebuilds, RebuildCommand, RebuildEvent>;
  resolveUnmatched: ResolveUnmatched;
  mailer: Mailer;
  /** Aborts when the process is asked to stop: open streams of events end with it. */
  closing: AbortSignal;
  /** For the queries of src/projections; they reject within a few seconds when Postgres is down. */
  db: Knex;
};

/** What it shares with the other interfaces. */
type SharedDependencies = {
  config: Pick<Config, 'baseUrl' | 'merchants' | 'transactionIdKey'>;
  runtime: Runtime;
  log: Log;
  eventStore: Pick<EventStore, 'append' | 'load' | 'loadLast' | 'firstAfter' | 'head'>;
  execute: Execute<Payment, PaymentCommand, PaymentEvent>;
  executeUser: Execute<Account | null, UserCommand, UserEvent>;
  users: ListQueries<Account>;
  registry: TransactionRegistry;
  projections: readonly Projection[];
  /** Rejects when Postgres is down. */
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
};

export type ConsoleDependencies = ReturnType<typeof createConsoleDependencies>;

export function createConsoleDependencies(given: OwnDependencies & SharedDependencies) {
  const { config, db, eventStore, projections, runtime } = given;
  const assets = createConsoleAssets();
  const sessions = createSessions({ config, eventStore, runtime });
  return {
    ...given,
    assets,
    sessions,
    returnTo: createReturnTo(config.baseUrl),
    show: createShowPage({ assets, sessions }),
    recordAccess: createRecordAccess({ eventStore, runtime }),
    lookAtRebuilds: createLookAtRebuilds({
      names: projections.map(({ name }) => name),
      eventStore,
      standings: () => rebuildStandings(db),
      runtime,
    }),
  };
}
