/** Whether the event store lets us in, checked before a role starts. */
import { AccessDeniedError } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import type { Runtime } from '../kernel/runtime.ts';
import { createDeadline } from './deadline.ts';
import { createClient } from './new-client.ts';
import { readEnd } from './read.ts';

const lookWithinMs = 2_500;

/** Why the event store refuses us, in one sentence; null if it does not, and while it does not answer. */
export async function refusal(url: string, runtime: Pick<Runtime, 'setTimer'>): Promise<string | null> {
  const client = createClient(url);
  try {
    await createDeadline(runtime, lookWithinMs)(readEnd(client, false));
    return null;
  } catch (error) {
    if (!(error instanceof AccessDeniedError)) return null;
    return error.code === status.UNAUTHENTICATED
      ? 'ESDB_URL: the event store does not accept the user or the password'
      : 'ESDB_URL: the user may not read $all; `ledger eventstore acl` prints the rights that it needs';
  } finally {
    await client.dispose().catch(() => {}); // no node was found
  }
}
