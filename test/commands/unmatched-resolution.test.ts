// The resolution of a result that no payment took: there is one.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { createExecute } from '../../src/commands/execute.ts';
import { type ResolveUnmatchedResult, unmatchedDecider } from '../../src/commands/unmatched.ts';
import { resolutionStream, type UnmatchedEvent } from '../../src/events/unmatched.ts';
import { open, startServer } from '../event-store/helpers.ts';
import { checkChain } from '../support/chain.ts';
import { resultAt } from '../support/payments.ts';
import { checkSpec, type Spec } from '../support/spec.ts';

const at = '2026-11-21T02:00:00.000Z';
const resolve = (over: Partial<ResolveUnmatchedResult> = {}): ResolveUnmatchedResult => ({
  type: 'ResolveUnmatchedResult',
  at,
  revision: 0,
  resolution: 'refunded',
  note: 'The bank paid it back',
  ...over,
});
const { type: _, ...data } = resolve();
const resolved = { type: 'UnmatchedResultResolved', data } as const;

const erase = { type: 'ErasePersonalData', at, reason: 'retention', destroyed: ['b.0'] } as const;
const erased: UnmatchedEvent = {
  type: 'PersonalDataErased',
  data: { at, reason: 'retention', keys: ['b.0'] },
};

const specs: Record<string, Spec<ResolveUnmatchedResult | typeof erase, UnmatchedEvent>> = {
  'an erasure, before or after a resolution': { given: [resolved], when: erase, expect: [erased] },
  'an erasure that is recorded': { given: [erased], when: erase, expect: [] },
  'a resolution of what was erased': { given: [erased], when: resolve(), expect: [resolved] },
  'a first resolution': { given: [], when: resolve(), expect: [resolved] },
  'the same resolution again, later': { given: [resolved], when: resolve({ at: resultAt }), expect: [] },
  'another resolution': {
    given: [resolved],
    when: resolve({ resolution: 'settled' }),
    expect: 'exception_resolved',
  },
  'another note': { given: [resolved], when: resolve({ note: 'Other' }), expect: 'exception_resolved' },
};
for (const [name, spec] of Object.entries(specs)) test(name, (t) => checkSpec(t, unmatchedDecider, spec));

const cause = () => {
  const commandId = randomUUID();
  return { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:1' };
};

test.serial('of two at once, one is recorded and the other refused', async (t) => {
  const eventStore = open(t, (await startServer(t)).port);
  const execute = createExecute({ eventStore, decider: unmatchedDecider });
  const stream = resolutionStream('0');
  const outcomes = await Promise.allSettled([
    execute(stream, resolve({ note: 'one' }), cause()),
    execute(stream, resolve({ note: 'two' }), cause()),
  ]);
  t.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  t.like(refused?.reason, { name: 'Refused', code: 'exception_resolved' });
  const stored = await eventStore.load(stream);
  t.is(stored.length, 1);
  checkChain(t, stored);
});
