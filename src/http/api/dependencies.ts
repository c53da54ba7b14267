/** What /api/v1 needs from the rest of the program. */
import type { ExecuteOf } from '../../commands/execute.ts';
import type { userDecider } from '../../commands/user.ts';
import type { Config } from '../../config/config.ts';
import type { Project } from '../../events/project.ts';
import type { Account } from '../../events/user.ts';
import type { EventStore } from '../../eventstore/event-store.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../../kernel/runtime.ts';
import type { LookDependencies } from '../../monitoring/look.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
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
  version: string;
} & Pick<LookDependencies, 'clockDifferenceMs' | 'projections' | 'projectionStatus' | 'sealingRefused'>;
