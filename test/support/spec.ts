// Specifications as data: given these events, when this command comes, then these events, or this refusal.
import { isDeepStrictEqual } from 'node:util';
import type { ExecutionContext } from 'ava';
import { type Decider, type RefusalCode, Refused } from '../../src/commands/decider.ts';

export type Spec<Command, Event> = {
  given: readonly Event[];
  when: Command;
  expect: readonly Event[] | RefusalCode;
};

/**
 * Checks one specification, and what holds for every decision: it leaves the state it was shown as it was,
 * and a command that was carried out adds nothing when it comes again.
 */
export function checkSpec<State, Command, Event>(
  t: ExecutionContext,
  decider: Decider<State, Command, Event>,
  { given, when, expect }: Spec<Command, Event>,
): void {
  const state = deepFreeze(given.reduce(decider.evolve, decider.initial));
  const decided = decider.decide(when, state);
  if (decided instanceof Refused || typeof expect === 'string') {
    t.is(decided instanceof Refused ? decided.code : decided, expect);
    return;
  }
  t.deepEqual(decided, expect);
  if (decided.length === 0) return;
  const again = decider.decide(when, decided.reduce(decider.evolve, state));
  t.true(again instanceof Refused || isDeepStrictEqual(again, []), 'the same command again adds nothing');
}

/** Freezes a JSON value through and through, so that changing it in place throws. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
