/**
 * Unused keys in the data folder, for a process that starts while the key store cannot be reached. Their blocks are in
 * the store as well, and a file is removed before any of its keys is drawn: a key that seals something is in no file.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { syncToDisk } from '@ledger/kernel/whole-file.ts';
import {
  type KeyBlock,
  type KeyStore,
  newBlock,
  unwrapBlock,
  type WrappingKeys,
  wrapBlock,
} from './key-store.ts';

export type KeyReserve = ReturnType<typeof createKeyReserve>;

/** 32,768 keys, in 1 MiB. */
const maxBlocks = 32;

/** Several processes may have the same folder. Every function throws the error of the file system. */
export function createKeyReserve(dependencies: {
  folder: string;
  wrapping: WrappingKeys;
  runtime: Pick<Runtime, 'randomBytes'>;
}) {
  const { folder, wrapping, runtime } = dependencies;
  /** `<id of the wrapping key>.<id of the block>` */
  const list = () => {
    makeFolder(folder, 0o700);
    return readdirSync(folder).filter((name) => name.includes('.'));
  };
  const blocksIn = (names: readonly string[], read: (path: string) => Buffer | null): KeyBlock[] =>
    names.flatMap((name) => {
      const sealed = read(join(folder, name));
      const [kekId = '', id = ''] = name.split('.');
      const keys = sealed && unwrapBlock({ id, kek_id: kekId, sealed }, wrapping);
      return keys instanceof Buffer ? [{ id, keys }] : [];
    });

  return {
    /** Half of the blocks, so that the next start, or another process, finds some too. Nobody else gets the same. */
    take(): KeyBlock[] {
      const names = list();
      const taken = blocksIn(names.slice(0, Math.ceil(names.length / 2)), takeFile);
      // Otherwise a file might be back after a power cut, and its keys be drawn again.
      syncToDisk(folder);
      return taken;
    },

    /**
     * Adds what is missing, in the store first, which may have lost what is there. Files under an earlier wrapping key are
     * replaced.
     */
    async fill(store: Pick<KeyStore, 'add'>): Promise<void> {
      const { id: kekId } = wrapping.current;
      const [current = [], old = []] = [true, false].map((isCurrent) =>
        list().filter((name) => name.startsWith(`${kekId}.`) === isCurrent),
      );
      for (const name of old) takeFile(join(folder, name));
      const made = Array.from({ length: maxBlocks - current.length }, () => newBlock(runtime));
      const kept = blocksIn(current, (path) => orElse(() => readFileSync(path), null));
      await store.add([...kept, ...made]);
      for (const block of made) {
        const { sealed } = wrapBlock(block, wrapping, runtime);
        writeFileSync(join(folder, `${kekId}.${block.id}`), sealed, { mode: 0o600, flush: true });
      }
    },
  };
}

/** The content of a file that is overwritten and removed; null if another process has taken it. */
function takeFile(path: string): Buffer | null {
  let opened: number | undefined;
  try {
    opened = openSync(path, 'r+');
    unlinkSync(path);
    const content = readFileSync(opened);
    writeSync(opened, Buffer.alloc(content.length), 0, content.length, 0);
    fsyncSync(opened);
    return content;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
