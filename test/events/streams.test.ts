// Each stream of the ledger is of one kind, and documented. A seal counts no seals.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { keyFingerprintEvents } from '../../src/events/key-fingerprint.ts';
import { merchantEvents } from '../../src/events/merchant.ts';
import { passkeyUseEvents, passkeyUseStream } from '../../src/events/passkeys.ts';
import { paymentEvents, paymentStream } from '../../src/events/payment.ts';
import { projectEvents, projectStream } from '../../src/events/project.ts';
import { projectionRequestEvents, projectionStream } from '../../src/events/projection-requests.ts';
import { reconciliationEvents } from '../../src/events/reconciliation.ts';
import { sealEvents, sealsStream } from '../../src/events/seals.ts';
import { sessionEvents, sessionStream } from '../../src/events/session.ts';
import { settlementEvents } from '../../src/events/settlement.ts';
import { sharedNumberEvents } from '../../src/events/shared-number.ts';
import { streamPrefixes } from '../../src/events/streams.ts';
import { resolutionStream, unmatchedEvents, unmatchedStream } from '../../src/events/unmatched.ts';
import { userEvents, userStream } from '../../src/events/user.ts';

test('no prefix matches the streams of another', (t) => {
  const names = [...streamPrefixes, sealsStream];
  for (const name of names)
    t.deepEqual(
      names.filter((other) => name.startsWith(other)),
      [name],
    );
});

test('every stream belongs to exactly one kind', (t) => {
  const streams = [paymentStream, projectStream, projectionStream, sessionStream, userStream].map((of) =>
    of('x'),
  );
  for (const stream of [...streams, passkeyUseStream('U', 'P'), unmatchedStream, resolutionStream('3')])
    t.is(streamPrefixes.filter((prefix) => stream.startsWith(prefix)).length, 1, stream);
});

test('content/docs/events.md names every stream and every type of event', (t) => {
  const page = readFileSync(new URL('../../content/docs/events.md', import.meta.url), 'utf8');
  const ofPayments = { ...paymentEvents, ...unmatchedEvents, ...reconciliationEvents, ...sharedNumberEvents };
  const ofStaff = { ...userEvents, ...passkeyUseEvents, ...sessionEvents, ...settlementEvents };
  const others = { ...merchantEvents, ...projectEvents, ...projectionRequestEvents, ...keyFingerprintEvents };
  const types = Object.keys({ ...ofPayments, ...ofStaff, ...others, ...sealEvents });
  t.true(types.length > 50, String(types.length));
  t.deepEqual(
    [...types.map((type) => `\`${type}\``), ...streamPrefixes.map((prefix) => `\`${prefix}`)].filter(
      (each) => !page.includes(each),
    ),
    [],
  );
});
