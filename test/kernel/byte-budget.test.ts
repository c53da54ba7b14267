// Who has to let go when many hold too much together.
import { createByteBudget } from '@ledger/kernel/byte-budget.ts';
import test from 'ava';

test('the owner that holds the most loses its largest, and whoever holds little goes on', (t) => {
  const ended: string[] = [];
  const budget = createByteBudget(100);
  const open = (owner: string, name: string) => budget.open(owner, () => ended.push(name));
  const [one, two] = [open('hoarder', 'one'), open('hoarder', 'two')];
  const large = open('other', 'large');
  one.add(20);
  two.add(30);
  large.add(40);
  const small = open('newcomer', 'small');
  small.add(10);
  t.deepEqual(ended, [], 'exactly as much as there may be');
  small.add(1);
  t.deepEqual(ended, ['two']);
  two.add(1_000);
  two.close();
  t.deepEqual(ended, ['two'], 'what was ended counts no more');
  small.add(29);
  t.deepEqual(ended, ['two'], '20, 40 and 40');
  small.add(1);
  t.deepEqual(ended, ['two', 'small']);
  large.close();
  one.add(80);
  t.deepEqual(ended, ['two', 'small'], 'what was closed is free again');
});

test('as many are ended as it takes, however little each of them holds', (t) => {
  let ended = 0;
  const budget = createByteBudget(100);
  for (let held = 0; held < 10; held += 1) budget.open('hoarder', () => (ended += 1)).add(10);
  const large = budget.open('newcomer', () => t.fail('it holds less'));
  large.add(40);
  t.is(ended, 4);
});
