// What staff say of a result that no payment took: once, of a result that there is, and no payment is made of it.
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { createExecute } from '../../src/commands/execute.ts';
import { createQuarantine } from '../../src/commands/unmatched.ts';
import {
  createResolveUnmatched,
  type ResolveUnmatchedResult,
  unmatchedDecider,
} from '../../src/commands/unmatched-resolution.ts';
import { readUnmatchedEvent } from '../../src/events/codec.ts';
import { resolutionStream } from '../../src/events/unmatched.ts';
import { open, startServer } from '../eventstore/helpers.ts';
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

const specs: Record<string, Spec<ResolveUnmatchedResult, typeof resolved>> = {
  'a first word': { given: [], when: resolve(), expect: [resolved] },
  'the same word again, later': { given: [resolved], when: resolve({ at: resultAt }), expect: [] },
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

async function startWithResults(t: ExecutionContext, results: number) {
  const eventStore = open(t, (await startServer(t)).port);
  const quarantine = createQuarantine(eventStore);
  const result = { at: resultAt, channel: 'generic', verified: true, reason: 'unknown_transaction' } as const;
  for (let index = 0; index < results; index += 1)
    await quarantine({ ...result, raw: { TRANS_ID: `X${index}` } }, cause());
  const execute = createExecute({ eventStore, decider: unmatchedDecider, read: readUnmatchedEvent });
  return { eventStore, resolveUnmatched: createResolveUnmatched({ eventStore, execute }) };
}

test.serial('a result that is not there cannot be resolved', async (t) => {
  const { eventStore, resolveUnmatched } = await startWithResults(t, 2);
  await t.throwsAsync(resolveUnmatched(resolve({ revision: 2 }), cause()), {
    name: 'Refused',
    code: 'unknown_exception',
  });
  t.deepEqual(await eventStore.load(resolutionStream(2)), []);
  await resolveUnmatched(resolve({ revision: 1 }), cause());
  t.is((await eventStore.load(resolutionStream(1))).length, 1);
});

test.serial('of two at once one is heard, and the other told so', async (t) => {
  const { eventStore, resolveUnmatched } = await startWithResults(t, 1);
  const outcomes = await Promise.allSettled([
    resolveUnmatched(resolve({ note: 'one' }), cause()),
    resolveUnmatched(resolve({ note: 'two' }), cause()),
  ]);
  t.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  t.like(refused?.reason, { name: 'Refused', code: 'exception_resolved' });
  const stored = await eventStore.load(resolutionStream(0));
  t.is(stored.length, 1);
  checkChain(t, stored);
});
