// A map that forgets what was set longest ago, whatever is set, set again, taken out or cleared.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RecentMap } from '@ledger/kernel/recent-map.ts';
import test from 'ava';
import fc from 'fast-check';

const step = fc.record({
  what: fc.constantFrom('set', 'set', 'set', 'set', 'delete', 'clear'),
  name: fc.nat(12).map((number) => (number === 0 ? '' : `${number}`)),
});

test('a RecentMap holds the entries that were set last', (t) => {
  fc.assert(
    fc.property(fc.nat(5), fc.array(step, { maxLength: 100 }), (most, steps) => {
      const map = new RecentMap<number>(most);
      let expected: [string, number][] = [];
      for (const [index, { what, name }] of steps.entries()) {
        if (what === 'clear') map.clear();
        if (what === 'clear') expected = [];
        if (what === 'set') map.set(name, index);
        if (what === 'delete')
          t.is(
            map.delete(name),
            expected.some(([each]) => each === name),
          );
        if (what !== 'clear') expected = expected.filter(([each]) => each !== name);
        if (what === 'set')
          expected = [...expected, [name, index] as [string, number]].slice(most ? -most : Infinity);
        t.deepEqual([...map], expected);
      }
    }),
    { numRuns: 300 },
  );
});

test('what a RecentMap has forgotten is not kept in memory, even if the map is never full', async (t) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const map = new RecentMap<object>(100);
  map.set('once', {});
  const forgotten = new WeakRef(map.get('once') ?? map);
  for (let count = 0; count < 200; count += 1) {
    map.set(`${count % 50}`, {});
    // The map has grown meanwhile, and has left the places in which it held this.
    if (count === 50) map.delete('once');
  }
  await setImmediate();
  collectGarbage();
  t.is(forgotten.deref(), undefined);
});
