/** What /api/v1 needs from the rest of the program. */
import type { ExecuteOf } from '../../commands/execute.ts';
import type { userDecider } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import type { Project } from '../../events/project.ts';
import type { Account } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
import type { Followed } from '../../projections/runtime/projection.ts';
import type { KnownHeads } from '../server/known-heads.ts';

export type ApiDependencies = {
  config: Pick<Config, 'apiKeys' | 'baseUrl' | 'transactionIdKey'>;
  content: ContentDependencies;
  eventStore: Pick<EventStore, 'load' | 'loadLast' | 'firstAfter' | 'isDiskFull'>;
  /** Of the streams that `executeUser` and `eventStore` write and read. */
  heads: Pick<KnownHeads, 'revisionOf'>;
  log: Log;
  runtime: Runtime;
};

export type ContentDependencies = {
  executeUser: ExecuteOf<typeof userDecider>;
  users: ListQueries<Account>;
  projects: ListQueries<Project>;
  /** Those that should be running. */
  projections: readonly Followed[];
  /** Where they stand. Rejects when Postgres is down. */
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
  /** Why the log is not sealed any more; null if it is. Rejects when Postgres is down. */
  sealingRefused(): Promise<string | null>;
  /** How wrong the clock of this machine is, if that is known. */
  clockDifferenceMs(): number | null;
  version: string;
};
