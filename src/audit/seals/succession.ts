/** The keys of the seals, each of which hands over to the next. Decision 44. */
import type { EventStore, Position, RecordedEvent } from '@ledger/event-store/event-store.ts';
import { isAfter } from '@ledger/event-store/position.ts';
import type { KeyTerm, SealKey } from '@ledger/transparency-log/key.ts';
import { fingerprintOf } from '../../commands/key-fingerprint.ts';
import { keyFingerprintFold, keyFingerprintStream } from '../../events/key-fingerprint.ts';
import { allSeals, type LastSeal } from './find-seals.ts';
import { type Seal, Unaccountable } from './stored-seals.ts';

export type SealKeys = { current: SealKey; previous: SealKey | null };

/**
 * The key for the next seal, and the key before it if that one signs the seal, too, to hand over. Throws Unaccountable
 * if the last seal has another key that does not hand over.
 */
export async function signersAfter(
  { seal, revision }: LastSeal,
  { current: key, previous }: SealKeys,
  eventStore: Pick<EventStore, 'load' | 'loadLast'>,
): Promise<{ key: SealKey; before: SealKey | null }> {
  if (!seal || seal.publicKey === key.publicKey) return { key, before: null };
  for await (const { data } of allSeals(eventStore))
    if (Reflect.get(Object(data), 'publicKey') === key.publicKey)
      throw new Unaccountable('SEAL_KEY has handed over to another key and must not sign again');
  if (seal.publicKey === previous?.publicKey) return { key, before: previous };
  const named = await eventStore.loadLast(keyFingerprintStream('SEAL_KEY'));
  if (named && keyFingerprintFold.read(named).data.fingerprint === fingerprintOf(key.publicKey))
    return { key, before: null };
  throw new Unaccountable(
    `Seal ${revision} was signed with another key than SEAL_KEY, and SEAL_KEY_PREVIOUS is not that key`,
  );
}

/** `end`: where the log has the first seal of the key after it. */
export type KeyPeriod = KeyTerm & { end: Position | null };

/** Whether an event that one of the keys has signed was stored before that key handed over. */
export function isInTime(
  keys: readonly KeyPeriod[],
  publicKey: string,
  { position }: RecordedEvent,
): boolean {
  return keys.some((key) => key.publicKey === publicKey && (!key.end || isAfter(key.end, position)));
}

/**
 * Follows the keys from seal to seal. A key is succeeded by one that it has signed for, or that is trusted itself, and
 * signs no seal after that. Keys that handed over to each other make a line: if one of them is trusted, all are.
 */
export function followKeys(trusted: readonly KeyTerm[] | null) {
  const periods: (KeyPeriod & { line: number })[] = [];
  const termOf = (publicKey: string) => trusted?.find((term) => term.publicKey === publicKey);
  const isTrusted = (line: number) =>
    !trusted || periods.some((each) => each.line === line && termOf(each.publicKey));
  return {
    /** What is wrong with the key of the next seal; null if nothing is. */
    take(seal: Seal, { position }: Pick<RecordedEvent, 'position'>, countBefore: number): string | null {
      const { publicKey, handedOverBy, count } = seal;
      const term = termOf(publicKey);
      if (term && (count < term.from || count > term.to))
        return 'was signed with a key whose time it was not';
      const last = periods.at(-1);
      if (last?.publicKey === publicKey) return null;
      if (periods.some((each) => each.publicKey === publicKey))
        return 'was signed with a key that had handed over to another';
      const isHandedOver = last?.publicKey === handedOverBy;
      // An auditor who names the end of a key's time names the next key too. So the key cannot hand over to another.
      const mayHandOver = (termOf(last?.publicKey ?? '')?.to ?? Infinity) === Infinity;
      if (last && !term && !(isHandedOver && mayHandOver))
        return 'was signed with another key, to which the key before did not hand over';
      if (last) Object.assign(last, { to: countBefore, end: position });
      const line = (last?.line ?? 0) + (isHandedOver ? 0 : 1);
      periods.push({ publicKey, from: last ? countBefore + 1 : 0, to: Infinity, end: null, line });
      return null;
    },
    /** The line of the seal that was taken last. */
    line: () => periods.at(-1)?.line ?? 0,
    isTrusted,
    /** The keys that may have signed, including those that have sealed nothing yet. Null if any key may. */
    trusted(): KeyPeriod[] | null {
      const others = trusted?.filter((term) => periods.every((each) => each.publicKey !== term.publicKey));
      return others
        ? [
            ...periods.filter(({ line }) => isTrusted(line)),
            ...others.map((term) => ({ ...term, end: null })),
          ]
        : null;
    },
    all: (): readonly KeyPeriod[] => periods,
  };
}
