// What a witness is shown of the leaves since the checkpoint that it signed last.
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { growTree, isConsistent } from '@ledger/transparency-log/tree.ts';
import test from 'ava';
import { proveSince } from '../../../src/audit/seals/leaves.ts';

test('a witness gets its proof after a long recount, before the first seal is appended', async (t) => {
  const nothing = () => t.fail('there is no seal to read from');
  const eventStore = {
    load: nothing,
    loadLast: async () => null,
    subscribe: nothing,
  } as unknown as EventStore;
  const leaves = Array.from({ length: 200_000 }, (_, index) => {
    const hash = Buffer.alloc(32);
    hash.writeUInt32BE(index);
    return hash;
  });
  const headOf = (size: number) => {
    const tree = growTree();
    for (const leaf of leaves.slice(0, size)) tree.add(leaf);
    return { size, root: tree.root() };
  };
  const { signal } = new AbortController();
  const proof = await proveSince(eventStore, 150_001, { leaves, signal });
  t.true(isConsistent(headOf(150_001), headOf(leaves.length), proof ?? []));
  t.is(await proveSince(eventStore, leaves.length + 1, { leaves, signal }), null);
});
