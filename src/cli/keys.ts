/** `ledger keys`: when a key is replaced, has leaked or is lost, or Postgres has been restored from a backup. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import type { KeyStore } from '@ledger/personal-data/key-store.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { readLastSeal } from '../audit/seals/find-seals.ts';
import { assertKey } from '../commands/key-fingerprint.ts';
import { readErasure } from '../events/personal-data.ts';
import { erasedKeysList } from '../personal-data/erased-keys.ts';
import { type CommandOf, type CommandOutcome, UsageError } from './command.ts';
import { fail, withStores } from './stores.ts';

const batchSize = 1_000;
const needs = { uses: ['dataKeys', 'linkKeys'] } as const;
const actions = ['rewrap', 'destroy-erased', 'replace-link-key', 'replace-seal-key'];

export const command: CommandOf<'keys'> = async (_, [action = '', ...more]) => {
  if (more.length > 0 || !actions.includes(action))
    throw new UsageError(`The action must be one of ${actions.join(', ')}`);
  if (action === 'replace-seal-key') return await replaceSealKey();
  return await withStores('keys', needs, async ({ config, eventStore, personalData, runtime }) => {
    const { store } = personalData;
    if (action === 'replace-link-key') {
      const link = { name: 'LINK_KEY', key: config.linkKeys.current, others: null };
      const isNew = await assertKey(link, { eventStore, runtime });
      const text = 'The log names the present LINK_KEY now. A process that does not know it does not start.';
      return { data: {}, text: isNew ? text : nothingReplaced('LINK_KEY') };
    }
    if (action === 'rewrap') {
      const { moved, left } = await store.rewrap();
      const text = `${moved} blocks of keys were moved under the present DATA_KEY.`;
      if (left > 0)
        fail(
          `${left} blocks are left under other keys, because they cannot be decrypted: keep DATA_KEY_PREVIOUS, and add every key that was in use before.`,
        );
      return { data: { moved, left }, text, exitCode: left === 0 ? 0 : 1 };
    }
    const destroyed = await destroyErased(store, eventStore);
    return { data: { destroyed }, text: `${destroyed} keys of erased personal data are destroyed.` };
  });
};

const nothingReplaced = (name: string) =>
  `The log names the present ${name} already: set the new one first. Nothing was replaced.`;

/** Lets the sealer continue although the previous key is lost and cannot hand over. */
async function replaceSealKey(): Promise<CommandOutcome> {
  return await withStores(
    'keys',
    { uses: ['sealKeys'], needs: ['eventStore'] },
    async ({ config, eventStore, runtime }) => {
      const { current } = config.sealKeys;
      if (current === '') return fail('SEAL_KEY is not set.');
      const key = sealKeyOf(current).publicKey;
      const last = await readLastSeal(eventStore);
      if (last?.checkpoint && last.publicKey === key) return { data: {}, text: nothingReplaced('SEAL_KEY') };
      const isNew = await assertKey({ name: 'SEAL_KEY', key, others: null }, { eventStore, runtime });
      const text = [
        'The log names the present SEAL_KEY now, and the next seal is signed with it.',
        'Nothing proves that this key follows the one before: give auditors both public keys.',
      ].join('\n');
      return { data: {}, text: isNew ? text : nothingReplaced('SEAL_KEY') };
    },
  );
}

/**
 * Destroys every key that the log says was destroyed, in batches; resolves to their number. Throws
 * EventStoreUnavailable and UnreadableEvent.
 */
export async function destroyErased(
  store: Pick<KeyStore, 'destroy'>,
  eventStore: Pick<EventStore, 'subscribe'>,
): Promise<number> {
  const { eventTypes } = erasedKeysList;
  let batch: string[] = [];
  let count = 0;
  for await (const event of eventsToEnd(eventStore, { eventTypes, after: null })) {
    batch.push(...readErasure(event).data.keys);
    if (batch.length < batchSize) continue;
    await store.destroy(batch);
    count += batch.length;
    batch = [];
  }
  await store.destroy(batch);
  return count + batch.length;
}
