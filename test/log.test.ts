// What may not be in a log line.
import test from 'ava';
import { pino } from 'pino';
import { createLog } from '../src/log.ts';

/** The one line that `log.error({ err })` writes. */
function lineOf(err: unknown): { level: number; err: Record<string, unknown> } {
  const lines: string[] = [];
  createLog('info', 'test', { write: (line) => void lines.push(line) }).error({ err }, 'failed');
  return JSON.parse(lines.join(''));
}

test('of a transaction id in an error only the beginning is logged', (t) => {
  const id = '1T0S2W493185DA4787N3WE45XT';
  const { level, err } = lineOf(new Error(`Stream payment-${id} is at 3, order ${id}-1`));
  t.is(level, pino.levels.values.error ?? 0);
  t.is(err.message, 'Stream payment-1T0S2W… is at 3, order 1T0S2W…-1');
  t.false(JSON.stringify(err).includes(id));
});

test('what libraries hang onto their errors is not logged, save the code', (t) => {
  const { err } = lineOf(
    Object.assign(new TypeError('no'), { code: 'EIO', rawPacket: [1], bindings: ['A'], value: { ic: 'A' } }),
  );
  t.deepEqual(Object.keys(err), ['type', 'code', 'message', 'stack']);
  t.like(err, { type: 'TypeError', code: 'EIO', message: 'no' });
});

test('what is thrown and no error is logged by its type', (t) => {
  for (const thrown of ['a name', { ic: 'A' }, null])
    t.deepEqual(lineOf(thrown).err, { type: typeof thrown });
});
