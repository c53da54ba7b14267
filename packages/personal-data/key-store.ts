/**
 * Data keys: how they are laid out in blocks and encrypted, and what a store of them must do. Keys are kept outside the
 * log. AES-256-GCM throughout, with a random nonce of 96 bits.
 */
import { createCipheriv, createDecipheriv, createSecretKey, hash } from 'node:crypto';
import { orElse } from '@ledger/kernel/or-else.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import type { Knex } from 'knex';
import { type ErasureReason, KeysUnavailable } from './sealed.ts';

export const keyBytes = 32;
/** The keys of a block, one after the other; a destroyed one is all zeros. */
export const keysPerBlock = 1_024;
const blockBytes = keysPerBlock * keyBytes;
const nonceBytes = 12;
const tagBytes = 16;

export type KeyBlock = { id: string; keys: Buffer };

/** Every function rejects when the store cannot be reached. */
export type KeyStore = {
  /** Stores blocks, except those that are there already. Throws ConfigError under another wrapping key than the others have. */
  add(blocks: readonly KeyBlock[]): Promise<void>;
  /**
   * The blocks that exist, by id. One that is under a wrapping key which is not configured has the error in its place,
   * and one whose bytes were changed is left out: its keys are lost.
   */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer | KeysUnavailable>>;
  /**
   * Overwrites keys with zeros; resolves to how many of them were there. Destroying them again changes nothing. In a block
   * whose bytes were changed, the place of the key is overwritten, because the rest might be decrypted without the check.
   * `record` is told how many there were in a block, in the transaction that overwrites them. Throws KeysUnavailable.
   */
  destroy(
    keyIds: readonly string[],
    record?: (keys: number, trx: Knex.Transaction) => Promise<void>,
  ): Promise<number>;
  /**
   * Frees the old versions of blocks, in which destroyed keys still are, so that they are overwritten. `destroy` does
   * so itself, but in vain while an older transaction is open. Never rejects.
   */
  freeOldVersions(): Promise<void>;
  /** Which of these blocks it does not have. */
  missing(ids: readonly string[]): Promise<string[]>;
  /** Removes blocks of which no key was ever used. */
  removeUnused(ids: readonly string[]): Promise<void>;
  /** The key of the blind index, made when it is first asked for: 32 bytes. Throws KeysUnavailable. */
  indexKey(): Promise<Buffer>;
  /**
   * Encrypts blocks that are under an earlier wrapping key under the current one. Resolves to how many it moved, and how
   * many are left because they cannot be decrypted.
   */
  rewrap(): Promise<{ moved: number; left: number }>;
  erasures: Erasures;
};

export type Erasure = {
  /** What is erased, by a name of the program's own. */
  subject: string;
  reason: ErasureReason;
  /** The actor of the event, such as `staff:<id>`. */
  actor: string;
};

/**
 * Erasures that have begun. One is noted before the first key is destroyed, so that it is completed even if the process
 * ends in the middle.
 */
export type Erasures = {
  begin(erasures: readonly Erasure[]): Promise<void>;
  complete(subjects: readonly string[]): Promise<void>;
  /** At most `limit` of those that began before a time, in order of subject, from after the subject `after`. */
  begunBefore(time: Date, page: { after: string; limit: number }): Promise<Erasure[]>;
};

/** `<block id>.<index in the block>` */
export const keyIdOf = (block: string, index: number) => `${block}.${index}`;

/** Null if it is not the id of a key. */
export function readKeyId(keyId: string): { block: string; index: number } | null {
  const [, block = '', digits = ''] = /^([\w-]{1,40})\.(\d{1,4})$/.exec(keyId) ?? [];
  const index = Number(digits);
  return block !== '' && index < keysPerBlock ? { block, index } : null;
}

export const newBlock = (runtime: Pick<Runtime, 'randomBytes'>): KeyBlock => ({
  id: runtime.randomBytes(9).toString('base64url'),
  keys: runtime.randomBytes(blockBytes),
});

/** The key of an index, within the block's own bytes. */
export function keyIn(block: Buffer, index: number): Buffer {
  return block.subarray(index * keyBytes, (index + 1) * keyBytes);
}

/** The place of a key in an encrypted block: in counter mode, each byte is encrypted in its own place. */
export function keyInSealed(sealed: Buffer, index: number): Buffer {
  return keyIn(sealed.subarray(nonceBytes), index);
}

export function isDestroyed(key: Buffer): boolean {
  return key.every((byte) => byte === 0);
}

/** The blocks of data keys are encrypted under it. */
type WrappingKey = { id: string; key: Buffer };

export type WrappingKeys = { current: WrappingKey; all: ReadonlyMap<string, WrappingKey> };

/** `current` and `previous` are 32 bytes each, in base64. */
export function wrappingKeys(current: string, previous: readonly string[]): WrappingKeys {
  const [first, ...others] = [current, ...previous].map(wrappingKey);
  if (!first) throw new Error('There is no wrapping key');
  return { current: first, all: new Map([first, ...others].map((each) => [each.id, each])) };
}

/** The id is 32 bits of a digest of the key, which do not give it away. Blocks name it: the derivation never changes. */
function wrappingKey(base64: string): WrappingKey {
  const key = Buffer.from(base64, 'base64');
  if (key.length !== keyBytes) throw new Error('A data key must have 32 bytes');
  const digest = hash('sha256', Buffer.concat([Buffer.from('payment ledger, id of a data key'), key]), 'hex');
  return { id: digest.slice(0, 8), key };
}

/** Nonce, ciphertext and tag. `place` is authenticated and not stored: decryption needs the same. */
export function encrypt(
  key: Buffer,
  plain: Buffer,
  place: string,
  runtime: Pick<Runtime, 'randomBytes'>,
): Buffer {
  const nonce = runtime.randomBytes(nonceBytes);
  // From a key object it is made three times as fast as from a Buffer.
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(Buffer.from(place));
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** Throws Error when the key or the place is another, or a byte was changed. */
export function decrypt(key: Buffer, sealed: Buffer, place: string): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('A sealed value is too short');
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  const plain = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
  decipher.final();
  return plain;
}

/** A block as it is stored, encrypted under the wrapping key that it names. */
export type StoredBlock = { id: string; kek_id: string; sealed: Buffer };

export function wrapBlock(
  { id, keys }: KeyBlock,
  { current }: WrappingKeys,
  runtime: Pick<Runtime, 'randomBytes'>,
): StoredBlock {
  return { id, kek_id: current.id, sealed: encrypt(current.key, keys, id, runtime) };
}

/** Null when bytes of the block were changed: its id is that of the key, so the key is the right one. */
export function unwrapBlock(
  { id, kek_id, sealed }: StoredBlock,
  wrapping: WrappingKeys,
): Buffer | KeysUnavailable | null {
  const key = wrapping.all.get(kek_id)?.key;
  if (!key)
    return new KeysUnavailable(
      `Keys are encrypted under the data key ${kek_id}, which is neither DATA_KEY nor in DATA_KEY_PREVIOUS`,
    );
  return orElse(() => decrypt(key, sealed, id), null);
}
