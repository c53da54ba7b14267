// The end of the log in memory: the same events as in the file, and never one that was not committed.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import {
  PAGE_BYTES,
  PAGE_EVENTS,
  type StoredEvent,
} from '../../../packages/embedded/eventstore/log-tables.ts';
import { openStorage } from '../../../packages/embedded/eventstore/storage.ts';
import { createTail } from '../../../packages/embedded/eventstore/tail.ts';

const sizes = fc.oneof(fc.nat(200), fc.integer({ min: PAGE_BYTES / 4, max: PAGE_BYTES + 1 }));
const commits = fc.array(fc.array(sizes, { maxLength: 3 }), { maxLength: 6 });

test('it answers as the whole log would, or not at all, and keeps at most a page', (t) => {
  fc.assert(
    fc.property(
      commits,
      fc.constantFrom(0, PAGE_EVENTS),
      fc.nat(12),
      fc.nat(4),
      (groups, more, from, limit) => {
        const tail = createTail();
        const log: StoredEvent[] = [];
        const small = Array.from({ length: more }, () => 1);
        for (const group of [...groups, small]) {
          const events = group.map((size, index): StoredEvent => {
            const position = 100 + log.length + index;
            return { position, revision: 0, stream: 's', type: 't', message: Buffer.alloc(size) };
          });
          log.push(...events);
          tail.add(events);
        }
        const request = { from: 100 + from + more, direction: 'forwards', limit } as const;
        const found = tail.page(request);
        const expected = log.filter(({ position }) => position >= request.from).slice(0, limit);
        if (found) t.deepEqual(found, expected);
        const kept = tail.page({ ...request, from: log.at(-1)?.position ?? 0, limit: PAGE_EVENTS });
        const isTooLarge = (log.at(-1)?.message.length ?? 0) > PAGE_BYTES;
        t.deepEqual(kept, log.length === 0 || isTooLarge ? undefined : log.slice(-1));
        t.is(tail.page({ ...request, stream: 's' }), undefined);
        t.is(tail.page({ ...request, direction: 'backwards' }), undefined);
        const all = log.map(
          ({ position }) => tail.page({ ...request, from: position, limit: Infinity }) ?? [],
        );
        for (const page of all) {
          t.true(page.length <= PAGE_EVENTS);
          t.true(page.reduce((sum, { message }) => sum + message.length, 0) <= PAGE_BYTES);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('an append that fails leaves nothing to read, and those beside it are there', async (t) => {
  const storage = openStorage(':memory:');
  t.teardown(storage.close);
  const append = (stream: string, type: unknown) =>
    storage.append({
      stream,
      expected: 'any',
      deadlineMs: Number.POSITIVE_INFINITY,
      events: ['first', type].map((each) => ({
        id: randomUUID(),
        type: each as string,
        contentType: 'application/json',
        data: Buffer.from('{}'),
        metadata: Buffer.of(),
      })),
    });
  const types = () => storage.page({ from: 2, direction: 'forwards', limit: 256 }).map(({ type }) => type);
  // The second event of an append cannot be written: the group is rolled back, and each append is tried by itself.
  const [before, failed, after] = await Promise.allSettled([
    append('s-1', 'before'),
    append('s-2', undefined),
    append('s-3', 'after'),
  ]);
  t.deepEqual([before?.status, failed?.status, after?.status], ['fulfilled', 'rejected', 'fulfilled']);
  t.deepEqual(types(), ['first', 'before', 'first', 'after']);
  t.is(storage.lastPosition(), 5);
});
