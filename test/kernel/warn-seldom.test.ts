// What an outage repeats is written once in a minute; what is new is written at once.
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import test from 'ava';

test('the same reason once in a minute, another one at once', (t) => {
  let monotonicMs = 0;
  const written: unknown[] = [];
  const warn = warnSeldom(
    { warn: (...line: unknown[]) => void written.push(line) },
    { monotonicMs: () => monotonicMs },
  );
  for (; monotonicMs < 121_000; monotonicMs += 1_000)
    warn({ reason: 'refused', failures: monotonicMs / 1_000 }, 'interrupted');
  t.deepEqual(
    written,
    [0, 60, 120].map((failures) => [{ reason: 'refused', failures }, 'interrupted']),
  );
  warn({ reason: 'frozen' }, 'interrupted');
  warn({ reason: 'refused' }, 'not claimed');
  t.is(written.length, 5);
});
