// How often something may be asked for, by name.
import test from 'ava';
import { createRequestLimit } from '../../../src/http/console/sign-in/request-limits.ts';

test('so many within the time, each name for itself, and again once it has passed', (t) => {
  let now = 0;
  const isWithin = createRequestLimit({ most: 2, withinMs: 1_000 }, () => new Date(now));
  t.deepEqual([isWithin('a'), isWithin('a'), isWithin('a'), isWithin('b')], [true, true, false, true]);
  now = 999;
  t.false(isWithin('a'));
  now = 1_000;
  t.deepEqual([isWithin('a'), isWithin('a'), isWithin('a')], [true, true, false]);
});

test('of more names than are kept the longest unseen is forgotten, and no other', (t) => {
  const isWithin = createRequestLimit({ most: 1, withinMs: 1_000 }, () => new Date(0));
  t.true(isWithin('first') && isWithin('second'));
  for (let name = 0; name < 9_999; name += 1) isWithin(`noise ${name}`);
  t.false(isWithin('second'));
  t.true(isWithin('first'), 'forgotten');
});
