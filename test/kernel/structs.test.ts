// `maskable` leaves out every field that it does not know, whatever its name.
import { maskable } from '@ledger/kernel/structs.ts';
import test from 'ava';
import { array, create, mask, string } from 'superstruct';

const Person = maskable({ name: string(), friends: array(maskable({ name: string() })) });
const inherited = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');

test('masking leaves out fields that are named like a method of every object, at every level', (t) => {
  t.true(inherited.includes('toString'));
  for (const name of ['other', ...inherited]) {
    const friend = { name: 'B', [name]: null };
    t.deepEqual(mask({ name: 'A', friends: [friend], [name]: 'secret' }, Person), {
      name: 'A',
      friends: [{ name: 'B' }],
    });
  }
});

test('without masking, an unknown field is refused', (t) => {
  for (const name of ['other', ...inherited])
    t.throws(() => create({ name: 'A', friends: [], [name]: 1 }, Person));
});
