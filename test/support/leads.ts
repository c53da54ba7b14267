import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createLeads, type Leads } from '@ledger/postgres/leader-election.ts';

/** The leads of a process, as far as PostgreSQL sees: each call is another process. */
export const leadsOn = (databaseUrl: string, runtime: Runtime = systemRuntime): Leads =>
  createLeads({ databaseUrl, runtime });
