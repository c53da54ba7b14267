// Receivers that are down: held back after some failures, probed one try at a time, let go by a success.
import { createBreaker } from '@ledger/outbound/breaker.ts';
import test from 'ava';

function breakerAt() {
  let nowMs = 0;
  const breaker = createBreaker({ now: () => new Date(nowMs) });
  const fail = (times: number) => {
    for (let i = 0; i < times; i += 1) breaker.record('a', true);
  };
  return { breaker, fail, at: (ms: number) => (nowMs = ms) };
}

test('four failures pause nobody, five do', (t) => {
  const { breaker, fail } = breakerAt();
  fail(4);
  t.deepEqual([...breaker.limits()], []);
  fail(1);
  t.deepEqual([...breaker.limits()], [['a', 0]]);
});

test('a success resets the count', (t) => {
  const { breaker, fail } = breakerAt();
  fail(4);
  breaker.record('a', false);
  fail(4);
  t.is(breaker.limits().get('a'), undefined);
});

test('after the pause one attempt at a time; its failure makes a longer pause, up to a minute', (t) => {
  const { breaker, fail, at } = breakerAt();
  fail(5);
  let nowMs = 0;
  for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    at(nowMs + pauseMs - 1);
    t.is(breaker.limits().get('a'), 0);
    nowMs += pauseMs;
    at(nowMs);
    t.is(breaker.limits().get('a'), 1);
    fail(1);
  }
});

test('attempts that were under way when the pause began do not lengthen it', (t) => {
  const { breaker, fail, at } = breakerAt();
  fail(12);
  at(5_000);
  t.is(breaker.limits().get('a'), 1);
});

test('one success ends the pause, and other receivers are never affected', (t) => {
  const { breaker, fail } = breakerAt();
  fail(5);
  t.is(breaker.limits().get('b'), undefined);
  breaker.record('a', false);
  t.deepEqual([...breaker.limits()], []);
});

test('of any number of receivers that never answer, so many are remembered', (t) => {
  const { breaker } = breakerAt();
  for (let no = 0; no < 10_002; no += 1)
    for (let failure = 0; failure < 5; failure += 1) breaker.record(`https://${no}.example`, true);
  t.is(breaker.limits().size, 10_000);
  t.false(breaker.limits().has('https://1.example'), 'those that failed longest ago are forgotten');
});
