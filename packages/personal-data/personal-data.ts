/** Seals and opens personal data, with keys from a store. One of these per process. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Log } from '@ledger/kernel/log.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import { createKeyCache } from './key-cache.ts';
import { createKeyPool } from './key-pool.ts';
import type { KeyReserve } from './key-reserve.ts';
import { decrypt, encrypt, isDestroyed, type KeyStore, keyIn, readKeyId } from './key-store.ts';
import {
  type Held,
  isPlain,
  KeysUnavailable,
  type Opened,
  type OpenSealed,
  type PersonalDataReader,
  type SealEvents,
  type SealedData,
  type SealedPlace,
  sealedValuesOf,
} from './sealed.ts';

export type PersonalData = ReturnType<typeof createPersonalData>;

export function createPersonalData(dependencies: {
  store: KeyStore;
  /** For a start while the store cannot be reached. */
  reserve?: KeyReserve;
  /** Calls back when keys have been destroyed; with null after each new connection, before which anything may have been. */
  listen: (onNotification: (payload: string | null) => void) => { stop(): Promise<void> };
  /** Whether an event begins something new. Such events are refused first when keys run out; by default none is new. */
  isNew?: (event: { type: string }) => boolean;
  /** How many keys are kept ahead, if not the usual number. */
  ahead?: number;
  log: Log;
  runtime: Runtime;
}) {
  const { store, reserve, listen, isNew = () => false, ahead, log, runtime } = dependencies;
  const cache = createKeyCache({ store, runtime });
  const pool = createKeyPool({
    store,
    reserve,
    onAdded: cache.keep,
    runtime,
    log,
    ...(ahead !== undefined && { ahead }),
  });
  let listener: { stop(): Promise<void> } | null = null;

  return {
    store,
    seal: createSeal((event) => pool.draw(isNew(event) ? 'new' : 'begun'), drawnAhead(runtime)),
    open: createOpen(cache, { log, runtime }),
    blindIndex: createBlindIndex(store),
    unstored: pool.unstored,
    /** Stores keys ahead from now on, for a process that writes. Resolves as soon as it can seal. */
    start(): Promise<void> {
      listener ??= listen((payload) => {
        cache.forget();
        if (payload === null) pool.storeAgain().catch(() => {}); // rejects when it begins anew, or stops
      });
      return pool.start();
    },
    async stop(): Promise<void> {
      await Promise.all([listener?.stop(), pool.stop()]);
    },
  };
}

/** Random bytes for nonces: drawing a few costs as much as drawing many. */
function drawnAhead(runtime: Pick<Runtime, 'randomBytes'>): Pick<Runtime, 'randomBytes'> {
  let ahead: Buffer = Buffer.alloc(0);
  return {
    randomBytes(length) {
      if (ahead.length < length) ahead = runtime.randomBytes(4_096);
      const bytes = ahead.subarray(0, length);
      ahead = ahead.subarray(length);
      return bytes;
    },
  };
}

/** One key for all that an event holds. */
function createSeal(
  draw: (event: { type: string }) => { id: string; key: Buffer },
  runtime: Pick<Runtime, 'randomBytes'>,
): SealEvents {
  return (stream, events) =>
    events.map((event) => {
      const plain = sealedValuesOf(event.data).filter(({ value }) => isPlain(value));
      if (plain.length === 0) return event;
      const { id, key } = draw(event);
      const data: Record<string, unknown> = { ...(event.data as object) };
      for (const { field, value } of plain) {
        const content = Buffer.from(JSON.stringify(isPlain(value) ? value.plain : null));
        const bytes = encrypt(key, content, placeText({ stream, field }), runtime);
        data[field] = { key: id, data: bytes.toString('base64url') } satisfies SealedData;
      }
      return { ...event, data };
    });
}

const placeText = ({ stream, field }: SealedPlace) => JSON.stringify([stream, field]);

function createOpen(
  cache: ReturnType<typeof createKeyCache>,
  { log, runtime }: { log: Log; runtime: Pick<Runtime, 'monotonicMs'> },
): OpenSealed {
  // An outage concerns every value.
  const warn = warnSeldom(log, runtime);
  return async <T>(held: Held<T>, place: SealedPlace): Promise<Opened<T>> => {
    if ('plain' in held) return { kind: 'open', value: held.plain };
    if ('erased' in held) return { kind: 'erased' };
    const cannot = (error: unknown, isLost: boolean) => {
      warn({ reason: briefReasonOf(error), isLost }, 'personal data cannot be opened');
      return { kind: 'unavailable', isLost } as const;
    };
    let key: Buffer;
    try {
      const id = readKeyId(held.key);
      const block = id && (cache.fresh(id.block) ?? (await cache.read(id.block)));
      if (!id || !block) return cannot('The block of the key is missing or was changed', true);
      key = keyIn(block, id.index);
    } catch (error) {
      return cannot(error, false);
    }
    if (isDestroyed(key)) return { kind: 'erased' };
    try {
      const content = decrypt(key, Buffer.from(held.data, 'base64url'), placeText(place));
      // It was authenticated, so it is what this program sealed.
      return { kind: 'open', value: JSON.parse(content.toString()) as T };
    } catch (error) {
      return cannot(error, true);
    }
  };
}

/** 128 bits: as good as unique among the tokens of a country, and no more than an index needs. */
const indexedBytes = 16;

/** A blind index: the digest of a token says nothing without the key, and the same token has the same digest. */
function createBlindIndex(store: Pick<KeyStore, 'indexKey'>): PersonalDataReader['blindIndex'] {
  // Prepared once: from a buffer, a key takes 10 us for each token.
  let key: Promise<KeyObject> | null = null;
  return async (tokens) => {
    if (tokens.length === 0) return [];
    key ??= store.indexKey().then(createSecretKey);
    try {
      const secret = await key;
      return tokens.map((token) =>
        createHmac('sha256', secret).update(token).digest().subarray(0, indexedBytes).toString('base64url'),
      );
    } catch (error) {
      key = null;
      throw error instanceof KeysUnavailable
        ? error
        : new KeysUnavailable('The key of the blind index cannot be read', { cause: error });
    }
  };
}
