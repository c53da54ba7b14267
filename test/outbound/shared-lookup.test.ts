import type { LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { createSharedLookup } from '@ledger/outbound/shared-lookup.ts';
import test from 'ava';

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

test('a name is asked about once for all that wait, and again when they have their answer', async (t) => {
  const asked: string[] = [];
  const answers: Answer[] = [];
  const lookup = createSharedLookup((hostname, _, answer) => {
    asked.push(hostname);
    answers.push(answer);
  });
  const all = () => promisify(lookup)('registry.example', { all: true });
  const address = () => promisify(lookup)('registry.example', {});
  const addresses = [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ];

  const waiting = Promise.all([all(), all(), address(), promisify(lookup)('other.example', { all: true })]);
  t.deepEqual(asked, ['registry.example', 'other.example']);
  for (const answer of answers) answer(null, addresses);
  t.deepEqual((await waiting) as unknown[], [addresses, addresses, '192.0.2.1', addresses]);

  const inVain = Promise.allSettled([all(), address()]);
  t.is(asked.length, 3);
  const error = Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
  answers[2]?.(error, []);
  t.deepEqual(await inVain, [
    { status: 'rejected', reason: error },
    { status: 'rejected', reason: error },
  ]);
});

test('the system is asked', async (t) => {
  const lookup = promisify(createSharedLookup());
  t.is((await lookup('127.0.0.1', {})) as unknown, '127.0.0.1');
});
