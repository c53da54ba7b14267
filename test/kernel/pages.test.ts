// Long lists in parts: nothing is left out, nothing comes twice, and no part is empty or too large.
import { pagesOf, portionsOf } from '@ledger/kernel/pages.ts';
import test from 'ava';
import fc from 'fast-check';
import { runs } from '../support/property-runs.ts';

const list = fc.nat({ max: 30 }).map((length) => Array.from({ length }, (_, index) => index));
const lists = [list, fc.integer({ min: 1, max: 12 })] as const;
const isPart = (part: readonly number[], size: number) => part.length > 0 && part.length <= size;

test('portions make up the list', (t) => {
  fc.assert(
    fc.property(...lists, (items, size) => {
      const portions = [...portionsOf(items, size)];
      t.deepEqual(portions.flat(), items);
      t.true(portions.every((portion) => isPart(portion, size)));
    }),
    { numRuns: runs(100) },
  );
});

test('pages make up the list, and nothing is asked for after a page that is not full', async (t) => {
  await fc.assert(
    fc.asyncProperty(...lists, async (items, size) => {
      const asked: (number | null)[] = [];
      const load = (after: number | null) => {
        asked.push(after);
        return items.filter((each) => each > (after ?? -1)).slice(0, size);
      };
      const pages: (readonly number[])[] = [];
      for await (const page of pagesOf(size, load)) pages.push(page);
      t.deepEqual(pages.flat(), items);
      t.true(pages.every((page) => isPart(page, size)));
      t.is(asked.length, Math.floor(items.length / size) + 1);
    }),
    { numRuns: runs(100) },
  );
});
