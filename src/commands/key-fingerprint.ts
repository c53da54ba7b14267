/** Compares a key with the one that the log names. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { derivedId } from '@ledger/kernel/derived-id.ts';
import { retry } from '@ledger/kernel/retry.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { LinkKeys } from '../common/link-keys.ts';
import { ownCause } from '../events/envelope.ts';
import {
  type KeyFingerprintEvent,
  keyFingerprintFold,
  keyFingerprintStream,
} from '../events/key-fingerprint.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute } from './execute.ts';

type RecordFingerprint = {
  at: string;
  name: string;
  fingerprint: string;
  /** Fingerprints of the keys that this one may replace; null: any. */
  replaces: readonly string[] | null;
};

export const keyFingerprintDecider: Decider<string | null, RecordFingerprint, KeyFingerprintEvent> = {
  ...keyFingerprintFold,
  decide({ at, name, fingerprint, replaces }, state) {
    if (state === fingerprint) return [];
    if (state === null || replaces === null || replaces.includes(state))
      return [{ type: 'KeyFingerprintRecorded', data: { at, fingerprint } }];
    return new Refused('wrong_key', `The log names another ${name}, which this process does not know`);
  },
};

type Key = {
  name: string;
  key: string;
  /** Keys that it may replace as the one that the log names; null: any. */
  others: readonly string[] | null;
};
type Dependencies = { eventStore: EventStore; runtime: Runtime; signal?: AbortSignal };

/** Tells nothing about the key. */
export const fingerprintOf = (key: string) => derivedId(key, ['fingerprint']);

/** Resolves once the log names this key; to false if it named it before. Waits out outages. Throws Refused with `wrong_key`. */
export async function assertKey(
  { name, key, others }: Key,
  { eventStore, ...retrying }: Dependencies,
): Promise<boolean> {
  const execute = createExecute({ eventStore, decider: keyFingerprintDecider });
  const compared = { name, fingerprint: fingerprintOf(key), replaces: others?.map(fingerprintOf) ?? null };
  const { runtime } = retrying;
  const cause = ownCause(runtime.uuid(), 'system');
  const attempt = () =>
    execute(keyFingerprintStream(name), { at: runtime.now().toISOString(), ...compared }, cause);
  const shouldRetry = (error: unknown) => !(error instanceof Refused);
  const { events } = await retry(attempt, { ...retrying, shouldRetry });
  return events.length > 0;
}

/** Asserts the keys that all processes share. Resolves also when `signal` aborts. Throws ConfigError. */
export async function assertKeys(
  { transactionIdKey, linkKeys }: { transactionIdKey: string; linkKeys: LinkKeys },
  dependencies: Dependencies,
): Promise<void> {
  const { current, others, original } = linkKeys;
  try {
    // One after the other: a process with a wrong first key must not record its second.
    await assertKey({ name: 'TRANSACTION_ID_KEY', key: transactionIdKey, others: [] }, dependencies);
    await assertKey({ name: 'LINK_KEY', key: current, others: [...others, original] }, dependencies);
  } catch (error) {
    if (dependencies.signal?.aborted) return;
    throw error instanceof Refused ? new ConfigError([error.message]) : error;
  }
}
