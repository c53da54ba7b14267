// Event ids, and the tamper-evidence chain.
import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { v5 as uuidV5 } from 'uuid';
import { type Cause, chain, genesisHash, hashOf, isChainedOnto } from '../../src/events/envelope.ts';
import { schemaVersion } from '../../src/events/upcast.ts';

const cause: Cause = {
  commandId: '3b8a5a0e-54a6-4c57-9d3c-6f4f6f1d2a10',
  correlationId: '0c5c8a1e-2f0b-4b5e-9d43-6b1b3f4f4c11',
  causationId: '6f9f1c55-6a4e-4cf0-9b2c-2f1f0f6b7e21',
  actor: 'gateway',
};
const events = [
  { type: 'First', data: { amountSen: 1, note: 'é😀' } },
  { type: 'Second', data: { amountSen: 2, extra: { b: [1, null], a: undefined } } },
  { type: 'Third', data: {} },
];

test('an event id is a UUID of version 5, made of the command id and the number of the event', (t) => {
  // The example of RFC 9562.
  t.is(
    uuidV5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'),
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
  const ids = chain(events, genesisHash, cause).map(({ id }) => id);
  t.deepEqual(ids, [
    uuidV5('0', cause.commandId),
    uuidV5('1', cause.commandId),
    uuidV5('2', cause.commandId),
  ]);
});

for (const namespace of ['', 'request-17', '3b8a5a0e54a64c579d3c6f4f6f1d2a10', `${cause.commandId} `]) {
  test(`"${namespace}" is no command id to make event ids of`, (t) => {
    t.throws(() => chain(events, genesisHash, { ...cause, commandId: namespace }), { instanceOf: TypeError });
  });
}

test('a command gives its events the same ids every time, and another command gives others', (t) => {
  const ids = (commandId: string) =>
    chain(events, genesisHash, { ...cause, commandId }).map((event) => event.id);
  t.deepEqual(ids(cause.commandId), ids(cause.commandId));
  t.is(new Set([...ids(cause.commandId), ...ids(cause.correlationId)]).size, 6);
});

test('the metadata says everything, and each event names the hash of the one before', (t) => {
  const sealed = chain(events, genesisHash, cause);
  t.is(sealed[0]?.metadata.previousHash, genesisHash);
  t.is(sealed[1]?.metadata.previousHash, sealed[0]?.metadata.hash);
  t.is(sealed[2]?.metadata.previousHash, sealed[1]?.metadata.hash);
  for (const { metadata } of sealed) {
    const { hash, previousHash, ...rest } = metadata;
    t.deepEqual(rest, {
      $correlationId: cause.correlationId,
      $causationId: cause.causationId,
      actor: 'gateway',
      schemaVersion,
    });
    t.regex(hash + previousHash, /^[0-9a-f]{128}$/);
  }
});

test('sealing in two goes gives the same chain as in one', (t) => {
  const whole = chain(events, genesisHash, cause).map((event) => event.metadata.hash);
  const first = chain(events.slice(0, 1), genesisHash, cause).map((event) => event.metadata.hash);
  const rest = chain(events.slice(1), first[0] ?? '', cause).map((event) => event.metadata.hash);
  t.deepEqual([...first, ...rest], whole);
});

test('the hash is the SHA-256 of a text that can be written by hand', (t) => {
  const text =
    '{"data":{"amountSen":1},"metadata":{"actor":"payer","previousHash":"00"},"type":"PaymentRequested"}';
  const metadata = { previousHash: '00', hash: 'not part of itself', actor: 'payer' };
  t.is(
    hashOf('PaymentRequested', { amountSen: 1 }, metadata),
    createHash('sha256').update(text).digest('hex'),
  );
});

test('an event that was stored and read back still has its hash', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
      const [sealed] = chain([{ type: 'Any', data }], genesisHash, cause);
      const stored = JSON.parse(JSON.stringify(sealed));
      return hashOf(stored.type, stored.data, stored.metadata) === sealed?.metadata.hash;
    }),
  );
  t.pass();
});

test('any change of an event breaks its hash', (t) => {
  const [sealed] = chain(events, genesisHash, cause);
  if (!sealed) return t.fail();
  const { type, data, metadata } = sealed;
  const hashes = [
    hashOf('Frist', data, metadata),
    hashOf(type, { ...data, amountSen: 2 }, metadata),
    hashOf(type, { ...data, more: null }, metadata),
    ...Object.keys(metadata)
      .filter((key) => key !== 'hash')
      .map((key) => hashOf(type, data, { ...metadata, [key]: 'another' })),
    hashOf(type, data, { ...metadata, more: 0 }),
  ];
  t.is(new Set([metadata.hash, ...hashes]).size, hashes.length + 1);
});

test('what is nested too deep to be hashed is chained onto nothing, whatever its metadata say', (t) => {
  let data: unknown = {};
  for (let depth = 0; depth < 100_000; depth += 1) data = { data };
  for (const hash of [null, undefined, ''])
    t.false(
      isChainedOnto({ type: 'Deep', data, metadata: { hash, previousHash: genesisHash } }, genesisHash),
    );
});
