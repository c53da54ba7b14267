/** What the console needs beside what all interfaces do. */
import type { Knex } from 'knex';
import type { Mailer } from '../../clients/mail/mailer.ts';
import type { Execute } from '../../commands/execute.ts';
import type { RebuildCommand } from '../../commands/rebuild.ts';
import type { ReconciliationCommand } from '../../commands/reconciliation.ts';
import type { SessionCommand } from '../../commands/session.ts';
import type { ResolveUnmatchedResult } from '../../commands/unmatched.ts';
import type { RebuildEvent, Rebuilds } from '../../events/rebuild.ts';
import type { Difference, ReconciliationEvent } from '../../events/reconciliation.ts';
import type { Session, SessionEvent } from '../../events/session.ts';
import type { ResolvedUnmatched, UnmatchedEvent } from '../../events/unmatched.ts';
import type { Runtime } from '../../kernel/runtime.ts';

export type ConsoleDependencies = {
  executeSession: Execute<Session | null, SessionCommand, SessionEvent>;
  mailer: Mailer;
  runtime: Pick<Runtime, 'yieldToIo'>;
  executeUnmatched: Execute<ResolvedUnmatched | null, ResolveUnmatchedResult, UnmatchedEvent>;
  executeDifference: Execute<Difference | null, ReconciliationCommand, ReconciliationEvent>;
  executeRebuild: Execute<Rebuilds, RebuildCommand, RebuildEvent>;
  /** The process is asked to end: what stays open by itself must not hold it up. */
  closing: AbortSignal;
  /** For the queries of src/projections; they reject within a few seconds when Postgres is down. */
  db: Knex;
};
