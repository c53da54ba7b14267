/** What the content service needs beside what all interfaces do. */
import type { Execute } from '../../commands/execute.ts';
import type { CreateUser } from '../../commands/user.ts';
import type { Project } from '../../events/project.ts';
import type { User, UserEvent } from '../../events/user.ts';
import type { Catalogue } from '../../projections/catalogue-queries.ts';
import type { ProjectionStatus } from '../../projections/checkpoints.ts';
import type { Projection } from '../../projections/projection.ts';

export type ContentDependencies = {
  executeUser: Execute<User | null, CreateUser, UserEvent>;
  users: Catalogue<User>;
  projects: Catalogue<Project>;
  /** Those that should be running. */
  projections: readonly Projection[];
  /** Where they stand. Rejects when Postgres is down. */
  projectionStatus(): Promise<readonly ProjectionStatus[]>;
  /** Of this program, as package.json has it. */
  version: string;
};
