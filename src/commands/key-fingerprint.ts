/** Compares a key with the one that the log names. */
import { readKeyFingerprintEvent } from '../events/codec.ts';
import { type KeyFingerprintEvent, keyFingerprintStream } from '../events/key-fingerprint.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { derivedId } from '../kernel/derived-id.ts';
import type { LinkKeys } from '../kernel/expiring-signature.ts';
import { retry } from '../kernel/retry.ts';
import type { Runtime } from '../kernel/runtime.ts';
import { type Decider, Refused } from './decider.ts';
import { createExecute } from './execute.ts';

type RecordFingerprint = {
  at: string;
  fingerprint: string;
  /** Fingerprints of the keys that this one may replace; null: any. */
  replaces: readonly string[] | null;
  /** What is wrong if the log names another key. */
  otherwise: string;
};

export const keyFingerprintDecider: Decider<string | null, RecordFingerprint, KeyFingerprintEvent> = {
  initial: null,
  read: readKeyFingerprintEvent,
  evolve: (_, { data }) => data.fingerprint,
  decide({ at, fingerprint, replaces, otherwise }, state) {
    if (state === fingerprint) return [];
    if (state === null || replaces === null || replaces.includes(state))
      return [{ type: 'KeyFingerprintRecorded', data: { at, fingerprint } }];
    return new Refused('wrong_key', otherwise);
  },
};

type Dependencies = { eventStore: EventStore; runtime: Runtime; signal: AbortSignal };

/**
 * Resolves once the key is known to be the right one: the one that the log names, or the first, or one of a process that
 * has the key that the log names among its `others`; then the log names this one. Waits out outages. Throws Refused with
 * `wrong_key` and the text `otherwise`.
 */
export async function assertKey(
  {
    name,
    key,
    others,
    otherwise,
  }: { name: string; key: string; others: readonly string[] | null; otherwise: string },
  { eventStore, runtime, signal }: Dependencies,
): Promise<void> {
  const execute = createExecute({ eventStore, decider: keyFingerprintDecider });
  const fingerprintOf = (secret: string) => derivedId(secret, ['fingerprint']);
  const command = {
    fingerprint: fingerprintOf(key),
    replaces: others?.map(fingerprintOf) ?? null,
    otherwise,
  };
  const commandId = runtime.uuid();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'system' };
  const attempt = () =>
    execute(keyFingerprintStream(name), { at: runtime.now().toISOString(), ...command }, cause);
  await retry(attempt, { runtime, signal, shouldRetry: (error) => !(error instanceof Refused) });
}

/**
 * Compares the keys that all processes must share with those that the log names. Resolves also when `signal` aborts.
 * Throws Refused with `wrong_key`.
 */
export async function assertKeys(
  { transactionIdKey, linkKeys }: { transactionIdKey: string; linkKeys: LinkKeys },
  dependencies: Dependencies,
): Promise<void> {
  const transactionIds = {
    name: 'TRANSACTION_ID_KEY',
    key: transactionIdKey,
    others: [],
    otherwise: 'TRANSACTION_ID_KEY is not the key that this log was begun with',
  };
  const links = {
    name: 'LINK_KEY',
    key: linkKeys.current,
    others: [...linkKeys.others, linkKeys.original],
    otherwise:
      'The key that the other processes sign links with is neither LINK_KEY nor in LINK_KEY_PREVIOUS',
  };
  try {
    // One after the other: a process with a wrong first key must not record its second.
    await assertKey(transactionIds, dependencies);
    await assertKey(links, dependencies);
  } catch (error) {
    if (!dependencies.signal.aborted) throw error;
  }
}
