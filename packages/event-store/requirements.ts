/** Whether the event store lets us in, checked before a role starts. */
import { AccessDeniedError } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { encodeAppend } from './append-message.ts';
import { connected, release } from './connection.ts';
import { createDeadline } from './deadline.ts';
import { AppendRefused } from './event-store.ts';
import { createClient } from './new-client.ts';
import { readEnd } from './read.ts';

const lookWithinMs = 2_500;
const rights = '`ledger eventstore acl` prints the rights that it needs';

/** Rights are checked before the revision. No stream has this one, so the event is never stored. */
const neverStored = encodeAppend(
  {
    streamName: 'payment-write-access',
    events: [{ id: '00000000-0000-4000-8000-000000000000', type: 'NeverStored', data: {}, metadata: {} }],
    expected: Number.MAX_SAFE_INTEGER,
  },
  lookWithinMs,
);

/** Why the event store refuses us, in one sentence; null if it does not, and while it does not answer. */
export async function refusal(
  url: string,
  runtime: Pick<Runtime, 'setTimer'>,
  { appends }: { appends: boolean } = { appends: true },
): Promise<string | null> {
  const connection = connected(createClient(url));
  const withinDeadline = createDeadline(runtime, lookWithinMs);
  try {
    await withinDeadline(readEnd(connection.client, false));
    if (appends) await withinDeadline(connection.appends.send(neverStored));
    return null;
  } catch (error) {
    if (error instanceof AppendRefused)
      return `ESDB_URL: the user may not append to the streams of the ledger; ${rights}`;
    if (!(error instanceof AccessDeniedError)) return null;
    return error.code === status.UNAUTHENTICATED
      ? 'ESDB_URL: the event store does not accept the user or the password'
      : `ESDB_URL: the user may not read $all; ${rights}`;
  } finally {
    release(connection);
  }
}
