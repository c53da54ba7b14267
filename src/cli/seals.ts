/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import { sealKeyOf } from '../audit/seals/key.ts';
import { allSeals, readSealOrNull, type Seal } from '../audit/seals/stored-seals.ts';
import { lastCheckpoint } from '../audit/tree/leaves.ts';
import { rawKeyOf, verifierText } from '../audit/tree/note.ts';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { type Command, flag } from './command.ts';
import { fail, print, withEventStore } from './stores.ts';

const options = { last: flag } as const;
const needs = { uses: ['sealKey'], onlyReads: true } as const;

export const seals: Command<typeof options> = {
  summary: 'the public key that seals of the log are checked with, and the seals so far',
  usage: '[--last]',
  options,
  async run({ last = false }) {
    return await withEventStore('seals', needs, async ({ eventStore, config: { sealKey } }) => {
      if (last) {
        const sealed = await lastCheckpoint(eventStore);
        if (!sealed) return fail('There is no checkpoint yet.');
        process.stdout.write(sealed.checkpoint.note);
        return 0;
      }
      print(
        sealKey === ''
          ? 'SEAL_KEY is not set, so its public key is not known.'
          : sealKeyOf(sealKey).publicKeyPem.trimEnd(),
      );
      const newest = await lastCheckpoint(eventStore).catch(() => null);
      if (newest) {
        const { origin: name } = newest.checkpoint;
        print(verifierText({ kind: 'log', name, publicKey: rawKeyOf(newest.seal.publicKey) }));
      }
      let count = 0;
      for await (const stored of allSeals(eventStore)) {
        print(`${String(stored.revision).padStart(6)}  ${sealText(readSealOrNull(stored))}`);
        count += 1;
      }
      print(`${count} ${count === 1 ? 'seal' : 'seals'}.`);
      return 0;
    });
  },
};

function sealText(seal: Seal | null): string {
  if (!seal) return 'unreadable';
  const { at, count, hash } = seal;
  return `${toIsoWithOffset(at)} ${count.toLocaleString('en').padStart(13)} events  ${hash}`;
}
