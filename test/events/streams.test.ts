// Each stream of the ledger is of one kind. A seal counts no seals.
import test from 'ava';
import { passkeyUseStream } from '../../src/events/passkeys.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { projectStream } from '../../src/events/project.ts';
import { projectionStream } from '../../src/events/projection-requests.ts';
import { sealsStream } from '../../src/events/seals.ts';
import { sessionStream } from '../../src/events/session.ts';
import { streamPrefixes } from '../../src/events/streams.ts';
import { resolutionStream, unmatchedStream } from '../../src/events/unmatched.ts';
import { userStream } from '../../src/events/user.ts';

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
