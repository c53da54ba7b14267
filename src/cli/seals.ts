/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import { forAll, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import { rawKeyOf, verifierText } from '@ledger/transparency-log/note.ts';
import { lastCheckpoint } from '../audit/seals/leaves.ts';
import { allSeals, readSignedSeal, type Seal } from '../audit/seals/stored-seals.ts';
import { followKeys } from '../audit/seals/succession.ts';
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import type { CommandOf } from './command.ts';
import { fail, print, withEventStore } from './stores.ts';

const needs = { uses: ['sealKeys'], onlyReads: true } as const;

export const seals: CommandOf<'seals'> = async ({ last = false }) =>
  await withEventStore('seals', needs, async ({ eventStore, config }) => {
    if (last) {
      const sealed = await lastCheckpoint(eventStore);
      if (!sealed) return fail('There is no checkpoint yet.');
      process.stdout.write(sealed.checkpoint.note);
      return 0;
    }
    const keys = followKeys(null);
    const lines: string[] = [];
    let countBefore = 0;
    for await (const stored of allSeals(eventStore)) {
      const seal = readSignedSeal(stored);
      if (seal) keys.take(seal, stored, countBefore);
      countBefore = seal?.count ?? countBefore;
      lines.push(`${String(stored.revision).padStart(6)}  ${sealText(seal)}`);
    }
    const { current } = config.sealKeys;
    const own = current === '' ? [] : [forAll(sealKeyOf(current).publicKey)];
    for (const key of keys.all().length > 0 ? keys.all() : own) print(termText(key));
    const newest = await lastCheckpoint(eventStore).catch(() => null);
    const { origin: name } = newest?.checkpoint ?? { origin: '' };
    const known = new Set([...keys.all(), ...own].map(({ publicKey }) => publicKey));
    for (const key of name === '' ? [] : known)
      print(verifierText({ kind: 'log', name, publicKey: rawKeyOf(key) }));
    for (const line of lines) print(line);
    print(`${lines.length} ${lines.length === 1 ? 'seal' : 'seals'}.`);
    return 0;
  });

function sealText(seal: Seal | null): string {
  if (!seal) return 'not what was signed';
  const { at, count, hash } = seal;
  return `${toIsoWithOffset(at)} ${count.toLocaleString('en').padStart(13)} events  ${hash}`;
}
