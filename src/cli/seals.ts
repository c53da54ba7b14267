/** `ledger seals`: the public key and the seals so far, for an auditor to keep elsewhere. */
import { join } from 'node:path';
import { keptCheckpoints, lastCheckpointFile, sealingRefused } from '../audit/seals/kept.ts';
import { sealKeyOf } from '../audit/seals/key.ts';
import { allSeals, readSealOrNull, type Seal } from '../audit/seals/stored-seals.ts';
import { lastCheckpoint } from '../audit/tree/leaves.ts';
import { rawKeyOf, verifierText } from '../audit/tree/note.ts';
import { acceptOlderLog } from '../audit/verify/acknowledge.ts';
import { toIsoWithOffset } from '../kernel/malaysian-time.ts';
import { type Command, flag, text, UsageError } from './command.ts';
import { fail, print, staffCause, withEventStore, withStores } from './stores.ts';

const options = { 'accept-older-log': flag, last: flag, reason: text } as const;
const needs = { uses: ['sealKey'], onlyReads: true } as const;

export const seals: Command<typeof options> = {
  summary: 'the public key that seals of the log are checked with, and the seals so far',
  usage: '[--last] | --accept-older-log --reason TEXT',
  options,
  async run({ 'accept-older-log': accepts = false, last = false, reason = '' }) {
    if (accepts || reason !== '') return await accept(accepts, reason.trim());
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

/** Resolves to the exit code. */
async function accept(isAsked: boolean, reason: string): Promise<number> {
  if (!isAsked || reason === '')
    throw new UsageError('--accept-older-log needs --reason why it was restored');
  return await withStores('seals', { uses: ['sealKey'] }, async ({ config, db, eventStore, runtime }) => {
    if (config.sealKey === '') return fail('SEAL_KEY is not set: the acceptance is signed with it.');
    if ((await sealingRefused(db)) === null) return fail('The sealer does not refuse to seal this log.');
    const kept = keptCheckpoints(db, join(config.dataDir, lastCheckpointFile));
    const key = sealKeyOf(config.sealKey);
    const missing = await acceptOlderLog(
      { eventStore, kept, key },
      { at: runtime.now(), reason },
      staffCause(),
    );
    for (const { name, size } of missing)
      print(`Accepted: the log does not have ${name}, of ${size.toLocaleString('en')} events.`);
    return missing.length > 0 ? 0 : fail('The log has all that is kept: run `ledger verify`.');
  });
}

function sealText(seal: Seal | null): string {
  if (!seal) return 'unreadable';
  const { at, count, hash } = seal;
  return `${toIsoWithOffset(at)} ${count.toLocaleString('en').padStart(13)} events  ${hash}`;
}
