// How often something may be requested, by name.
import test from 'ava';
import { createRequestLimit } from '../../../src/http/console/sign-in/request-limit.ts';

test('each name has its own limit, and may go on once the time has passed', (t) => {
  let now = 0;
  const isWithin = createRequestLimit({ most: 2, withinMs: 1_000 }, { now: () => new Date(now) });
  t.deepEqual([isWithin('a'), isWithin('a'), isWithin('a'), isWithin('b')], [true, true, false, true]);
  now = 999;
  t.false(isWithin('a'));
  now = 1_000;
  t.deepEqual([isWithin('a'), isWithin('a'), isWithin('a')], [true, true, false]);
});

test('when too many names are kept, only the one unseen for the longest is forgotten', (t) => {
  const isWithin = createRequestLimit({ most: 1, withinMs: 1_000 }, { now: () => new Date(0) });
  t.true(isWithin('first') && isWithin('second'));
  for (let name = 0; name < 9_999; name += 1) isWithin(`noise ${name}`);
  t.false(isWithin('second'));
  t.true(isWithin('first'), 'forgotten');
});
