/** Whether the event store lets us in, checked before a program begins its work. */
import { AccessDeniedError } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { encodeAppend } from './append-message.ts';
import { connected, release } from './connection.ts';
import { createDeadline } from './deadline.ts';
import {
  AppendRefused,
  EventStoreFull,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from './event-store.ts';
import { createClient } from './new-client.ts';
import { readEnd } from './read.ts';

const lookWithinMs = 3_500;

/** Rights are checked before the revision. No stream has this one, so the event is never stored. */
const neverStored = {
  events: [{ id: '00000000-0000-4000-8000-000000000000', type: 'NeverStored', data: {}, metadata: {} }],
  expected: Number.MAX_SAFE_INTEGER,
};

/** It does not know the user or the password, the user may not read $all or not append, or it has no room. */
export type Refusal = 'credentials' | 'read' | 'append' | 'room';

/**
 * What the event store refuses us; null if nothing. Whether we may append is asked of the stream `appendsTo`, which
 * nothing is stored in; the embedded store then says whether the last append of anybody found no room.
 *
 * @throws EventStoreUnavailable while it does not answer
 */
export async function refusal(
  url: string,
  runtime: Pick<Runtime, 'setTimer'>,
  appendsTo: string | null,
): Promise<Refusal | null> {
  const connection = connected(createClient(url));
  const withinDeadline = createDeadline(runtime, lookWithinMs);
  try {
    await withinDeadline(readEnd(connection.client, false));
    if (appendsTo === null) return null;
    const append = encodeAppend({ streamName: appendsTo, ...neverStored }, lookWithinMs);
    await withinDeadline(connection.appends.send(append));
    return null;
  } catch (error) {
    if (error instanceof WrongExpectedRevision) return null;
    if (error instanceof EventStoreFull) return 'room';
    if (error instanceof AppendRefused) return 'append';
    if (!(error instanceof AccessDeniedError))
      throw new EventStoreUnavailable('the event store does not answer', { cause: error });
    return error.code === status.UNAUTHENTICATED ? 'credentials' : 'read';
  } finally {
    release(connection);
  }
}
