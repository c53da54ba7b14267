/** How the stores, the projections and the sealing of the log are, for health and readiness. */
import { isReadOnly } from '@ledger/postgres/requirements.ts';
import { createLook as createLookAt, type LookDependencies as Looked } from '@ledger/projections/health.ts';
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import type { Knex } from 'knex';
import { sealingRefused } from '../audit/seals/sealing-status.ts';

export type LookDependencies = Omit<Looked, 'otherFault'> & {
  /** Why the log is not sealed any more; null if it is. Rejects when Postgres is down. */
  sealingRefused(): Promise<string | null>;
};

/** The answers of Postgres to what a look asks. */
export const answersFrom = (db: Knex) => ({
  projectionStatus: () => projectionStatus(db),
  sealingRefused: () => sealingRefused(db),
  isReadOnly: () => isReadOnly(db),
});

/** Not ok while the log is not sealed. The function that it returns never rejects. */
export const createLook = (dependencies: LookDependencies) =>
  createLookAt({ ...dependencies, otherFault: dependencies.sealingRefused });
