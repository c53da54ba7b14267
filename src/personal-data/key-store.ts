/** What a store of data keys must do. Keys are kept in blocks, outside the log. */
import { keyBytes } from './data-keys.ts';

/** The keys of a block, one after the other; a destroyed one is all zeros. */
export const keysPerBlock = 1_024;
export const blockBytes = keysPerBlock * keyBytes;

export type KeyBlock = { id: string; keys: Buffer };

/** Every function rejects when the store cannot be reached. */
export type KeyStore = {
  add(blocks: readonly KeyBlock[]): Promise<void>;
  /** The blocks that exist, by id. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Overwrites keys with zeros. Destroying them again changes nothing. */
  destroy(keyIds: readonly string[]): Promise<void>;
  /** Removes blocks of which no key was ever used. */
  removeUnused(ids: readonly string[]): Promise<void>;
  /** The key of the blind index, made when it is first asked for: 32 bytes. */
  indexKey(): Promise<Buffer>;
  /** Encrypts blocks that are under an earlier wrapping key under the current one; resolves to how many. */
  rewrap(onProgress?: (blocks: number) => void): Promise<number>;
};

/** `<block id>.<index in the block>` */
export const keyIdOf = (block: string, index: number) => `${block}.${index}`;

/** Null if it is not the id of a key. */
export function readKeyId(keyId: string): { block: string; index: number } | null {
  const [, block = '', digits = ''] = /^([\w-]{1,40})\.(\d{1,4})$/.exec(keyId) ?? [];
  const index = Number(digits);
  return block !== '' && index < keysPerBlock ? { block, index } : null;
}

/** The key of an index, within the block's own bytes. */
export function keyIn(block: Buffer, index: number): Buffer {
  return block.subarray(index * keyBytes, (index + 1) * keyBytes);
}

export function isDestroyed(key: Buffer): boolean {
  return key.every((byte) => byte === 0);
}
