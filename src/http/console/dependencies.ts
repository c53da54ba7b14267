/** What the console needs beside what all interfaces do. Queries reject when Postgres is down. */
import type { Mailer } from '../../clients/mailer.ts';
import type { Execute } from '../../commands/execute.ts';
import type { SessionCommand } from '../../commands/session.ts';
import type { Session, SessionEvent } from '../../events/session.ts';

export type ConsoleDependencies = {
  executeSession: Execute<Session | null, SessionCommand, SessionEvent>;
  mailer: Mailer;
};
