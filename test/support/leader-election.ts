import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createLeaderElection, type LeaderElection } from '@ledger/postgres/leader-election.ts';

/** The election as one process takes part in it, as far as PostgreSQL sees: each call is another process. */
export const electionOn = (databaseUrl: string, runtime: Runtime = systemRuntime): LeaderElection =>
  createLeaderElection({ databaseUrl, runtime });
