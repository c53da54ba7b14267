/** Compares a key with the one that the log was begun with. */
import { readKeyFingerprintEvent } from '../events/codec.ts';
import { type KeyFingerprintEvent, keyFingerprintStream } from '../events/key-fingerprint.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { derivedId } from '../kernel/derived-id.ts';
import { retry } from '../kernel/retry.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute } from './execute.ts';

type RecordFingerprint = { at: string; fingerprint: string };

export const keyFingerprintDecider: Decider<string | null, RecordFingerprint, KeyFingerprintEvent> = {
  initial: null,
  read: readKeyFingerprintEvent,
  evolve: (state, { data }) => state ?? data.fingerprint,
  decide(data, state) {
    if (state === null) return [{ type: 'KeyFingerprintRecorded', data }];
    if (state === data.fingerprint) return [];
    return new Refused('wrong_key', 'The key is not the one that this log was begun with');
  },
};

/** Resolves once the key is known to be the right one; waits out outages. Throws Refused with `wrong_key`. */
export async function assertKey(
  { name, key }: { name: string; key: string },
  { eventStore, runtime, signal }: { eventStore: EventStore; runtime: Runtime; signal: AbortSignal },
): Promise<void> {
  const execute = createExecute({ eventStore, decider: keyFingerprintDecider });
  const fingerprint = derivedId(key, ['fingerprint']);
  const commandId = runtime.uuid();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'system' };
  const attempt = () =>
    execute(keyFingerprintStream(name), { at: runtime.now().toISOString(), fingerprint }, cause);
  await retry(attempt, { runtime, signal, shouldRetry: (error) => !(error instanceof Refused) });
}
