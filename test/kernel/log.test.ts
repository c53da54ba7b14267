// What a log line must not hold.
import { createLog } from '@ledger/kernel/log.ts';
import test from 'ava';
import { pino } from 'pino';

/** The one line that `log.error` writes. */
function lineOf(fields: object) {
  const lines: string[] = [];
  createLog('info', 'test', { write: (line) => void lines.push(line) }).error(fields, 'failed');
  return JSON.parse(lines.join(''));
}

test('only the beginning of a transaction id in an error is logged', (t) => {
  const id = '1T0S2W493185DA4787N3WE45XT';
  const { level, err } = lineOf({ err: new Error(`Stream payment-${id} is at 3, order ${id}-1`) });
  t.is(level, pino.levels.values.error ?? 0);
  t.is(err.message, 'Stream payment-1T0S2W… is at 3, order 1T0S2W…-1');
  t.false(JSON.stringify(err).includes(id));
});

test('only the beginning of a transaction id in a field is logged', (t) => {
  const id = '1T0S2W493185DA4787N3WE45XT';
  const line = lineOf({ transactionId: id, stream: `payment-${id}`, attempt: 2, at: null });
  t.like(line, { transactionId: '1T0S2W…', stream: 'payment-1T0S2W…', attempt: 2, at: null, role: 'test' });
});

test('of what libraries attach to their errors, only the code is logged', (t) => {
  const more = { code: 'EIO', rawPacket: [1], bindings: ['A'], value: { ic: 'A' } };
  const { err } = lineOf({ err: Object.assign(new TypeError('no'), more) });
  t.deepEqual(Object.keys(err), ['type', 'code', 'message', 'stack']);
  t.like(err, { type: 'TypeError', code: 'EIO', message: 'no' });
});

test('a thrown value that is not an Error is logged by its type', (t) => {
  for (const thrown of ['a name', { ic: 'A' }, null])
    t.deepEqual(lineOf({ err: thrown }).err, { type: typeof thrown });
});
