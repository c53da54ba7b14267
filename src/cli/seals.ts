/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import { forAll, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import { rawKeyOf, verifierText } from '@ledger/transparency-log/note.ts';
import { allSeals, lastCheckpoint } from '../audit/seals/find-seals.ts';
import { readSignedSeal, type Seal } from '../audit/seals/stored-seals.ts';
import { followKeys } from '../audit/seals/succession.ts';
import { toIsoWithOffset } from '../common/malaysian-time.ts';
import { plural } from '../common/plural.ts';
import type { CommandOf } from './command.ts';
import { fail, withStores } from './stores.ts';

const needs = { uses: ['sealKeys'], onlyReads: true, needs: ['eventStore'] } as const;

export const command: CommandOf<'seals'> = async ({ last = false }) =>
  await withStores('seals', needs, async ({ eventStore, config }) => {
    if (last) {
      const sealed = await lastCheckpoint(eventStore);
      if (!sealed) return fail('There is no checkpoint yet.');
      const { note } = sealed.checkpoint;
      return { data: { checkpoint: note }, text: note.trimEnd() };
    }
    const { current } = config.sealKeys;
    const own = current === '' ? [] : [forAll(sealKeyOf(current).publicKey)];
    // A key that was lost hands over to nobody: ours is listed after it all the same.
    const keys = followKeys(own.length > 0 ? own : null);
    const stored: (Seal | null)[] = [];
    const lines: string[] = [];
    let countBefore = 0;
    for await (const event of allSeals(eventStore)) {
      const seal = readSignedSeal(event);
      if (seal) keys.take(seal, event, countBefore);
      stored.push(seal);
      countBefore = seal?.count ?? countBefore;
      lines.push(`${String(event.revision).padStart(6)}  ${sealText(seal)}`);
    }
    const terms = keys.all().length > 0 ? keys.all() : own;
    const newest = await lastCheckpoint(eventStore).catch(() => null);
    const { origin: name } = newest?.checkpoint ?? { origin: '' };
    const known = new Set([...keys.all(), ...own].map(({ publicKey }) => publicKey));
    const verifiers = (name === '' ? [] : [...known]).map((key) =>
      verifierText({ kind: 'log', name, publicKey: rawKeyOf(key) }),
    );
    const count = `${plural(lines.length, 'seal')}.`;
    const text = [...terms.map(termText), ...verifiers, ...lines, count].join('\n');
    return { data: { keys: terms, verifiers, seals: stored }, text };
  });

function sealText(seal: Seal | null): string {
  if (!seal) return 'not what was signed';
  const { at, count, hash } = seal;
  return `${toIsoWithOffset(at)} ${count.toLocaleString('en').padStart(13)} events  ${hash}`;
}
