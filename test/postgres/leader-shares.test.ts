import { type Candidacy, givesUp } from '@ledger/postgres/leader-shares.ts';
import test from 'ava';
import fc from 'fast-check';
import { runs } from '../support/property-runs.ts';

const names = ['details', 'journal', 'payments', 'projects', 'unmatched', 'users'];

test('leaderships spread evenly over the processes that wait for them, and then stay', (t) => {
  const scenario = fc.record({
    joined: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 }),
    choices: fc.infiniteStream(fc.nat()),
  });
  fc.assert(
    fc.property(scenario, ({ joined, choices }) => {
      const leaders = new Map(names.map((name) => [name, 'first']));
      const processes = ['first', ...new Set(joined)];
      const sessions = () =>
        processes.flatMap((process) =>
          names.map((name): Candidacy => ({ name, process, leads: leaders.get(name) === process })),
        );
      /** Every leader of a process looks at the same moment. */
      const beat = (process: string) => {
        const seen = sessions();
        const led = names.filter((name) => leaders.get(name) === process);
        const given = led.filter((name) => givesUp(seen, { name, process }));
        for (const name of given) leaders.delete(name);
        return given;
      };
      const pick = <Value>(values: readonly Value[]) => values[(choices.next().value ?? 0) % values.length];
      const take = (givenUpBy: string) => {
        for (const name of names) {
          if (leaders.has(name)) continue;
          const taker = pick(processes.filter((process) => process !== givenUpBy));
          if (taker) leaders.set(name, taker);
        }
      };
      const counts = () =>
        processes.map((process) => [...leaders.values()].filter((leader) => leader === process).length);
      const isEven = () => Math.max(...counts()) - Math.min(...counts()) <= 1;
      for (let round = 0; round < 200 && !isEven(); round += 1)
        for (const process of processes) {
          const before = counts();
          beat(process);
          take(process);
          const index = processes.indexOf(process);
          t.true(
            (counts()[index] ?? 0) >=
              Math.min(before[index] ?? 0, Math.floor(names.length / processes.length)),
          );
        }
      t.true(isEven(), String(counts()));
      for (const process of processes) t.deepEqual(beat(process), [], 'nothing moves any more');
      // Who leaves is replaced by those who stay.
      processes.pop();
      for (const [name, leader] of leaders) if (!processes.includes(leader)) leaders.delete(name);
      take('');
      t.is(leaders.size, names.length);
    }),
    { numRuns: runs(200) },
  );
});

test('a leadership is given only to a process that stands by for it and leads, or could lead, two fewer', (t) => {
  const candidacy = (process: string, name: string, leads = false): Candidacy => ({ name, process, leads });
  const own = names.slice(0, 3).map((name) => candidacy('a', name, true));
  const givenTo = (...others: readonly Candidacy[]) =>
    names.slice(0, 3).filter((name) => givesUp([...own, ...others], { name, process: 'a' }));
  t.deepEqual(givenTo(), []);
  t.deepEqual(givenTo(candidacy('b', 'payments')), ['payments']);
  t.deepEqual(givenTo(candidacy('b', 'users', true)), [], 'it stands by for nothing');
  t.deepEqual(givenTo(candidacy('b', 'payments'), candidacy('c', 'journal')), ['journal', 'payments']);
  t.deepEqual(givenTo(candidacy('b', 'payments'), candidacy('b', 'users', true)), ['payments']);
  const both = [candidacy('b', 'payments'), candidacy('b', 'users', true)];
  t.deepEqual(
    givenTo(...both, candidacy('b', 'unmatched')),
    [],
    'nobody leads the other that it stands by for',
  );
  t.deepEqual(givenTo(...both, candidacy('b', 'unmatched'), candidacy('c', 'unmatched', true)), ['payments']);
});
