/** What the content service needs beside what all interfaces do. */
import type { Execute } from '../../commands/execute.ts';
import type { UserCommand } from '../../commands/user.ts';
import type { Project } from '../../events/project.ts';
import type { Account, UserEvent } from '../../events/user.ts';
import type { ProjectionStatus } from '../../projections/runtime/checkpoints.ts';
import type { ListQueries } from '../../projections/runtime/list-projection.ts';
import type { Projection } from '../../projections/runtime/projection.ts';

export type ContentDependencies = {
  executeUser: Execute<Account | null, UserCommand, UserEvent>;
  users: ListQueries<Account>;
  projects: ListQueries<Project>;
  /** Those that should be running. */
  projections: readonly Projection[];
  /** Where they stand. Rejects when Postgres is down. */
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
  /** Of this program, as package.json has it. */
  version: string;
};
