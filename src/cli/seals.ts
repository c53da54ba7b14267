/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
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
    const withSeal = (event: RecordedEvent) => ({ ...event, seal: readSignedSeal(event) });
    const placed = await Array.fromAsync(allSeals(eventStore), withSeal);
    // A key that was lost hands over to nobody: ours, and those before it in its line, are listed after it all the same.
    const { current } = config.sealKeys;
    const ours = new Set(current === '' ? [] : [sealKeyOf(current).publicKey]);
    for (const { seal } of placed.toReversed())
      if (seal?.handedOverBy && ours.has(seal.publicKey)) ours.add(seal.handedOverBy);
    const own = Array.from(ours, forAll);
    const keys = followKeys(own);
    let countBefore = 0;
    for (const { position, seal } of placed) {
      if (seal) keys.take(seal, { position }, countBefore);
      countBefore = seal?.count ?? countBefore;
    }
    const lines = placed.map(({ revision, seal }) => `${String(revision).padStart(6)}  ${sealText(seal)}`);
    const terms = keys.all().length > 0 ? keys.all() : own;
    const name = placed.at(-1)?.seal?.checkpoint?.origin ?? '';
    const known = new Set([...keys.all().map(({ publicKey }) => publicKey), ...ours]);
    const verifiers = (name === '' ? [] : [...known]).map((key) =>
      verifierText({ kind: 'log', name, publicKey: rawKeyOf(key) }),
    );
    const count = `${plural(lines.length, 'seal')}.`;
    const text = [...terms.map(termText), ...verifiers, ...lines, count].join('\n');
    const seals = placed.map(
      ({ data, seal }) => seal && { count: seal.count, hash: seal.hash, ...Object(data) },
    );
    return { data: { keys: terms, verifiers, seals }, text };
  });

function sealText(seal: Seal | null): string {
  if (!seal) return 'not what was signed';
  const { at, count, hash } = seal;
  return `${toIsoWithOffset(at)} ${count.toLocaleString('en').padStart(13)} events  ${hash}`;
}
