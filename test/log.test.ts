// What may not be in a log line.
import { Writable } from 'node:stream';
import test from 'ava';
import { pino } from 'pino';
import { createLog } from '../src/log.ts';

test('of a transaction id in an error only the beginning is logged', (t) => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLog('info', 'test', stream);
  const id = '1T0S2W493185DA4787N3WE45XT';
  log.error({ err: new Error(`Stream payment-${id} is at 3, order ${id}-1`) }, 'failed');
  t.is(lines.length, 1);
  t.false(lines[0]?.includes(id));
  t.true(lines[0]?.includes('payment-1T0S2W… is at 3, order 1T0S2W…-1'));
  t.is(pino.levels.values.error, JSON.parse(lines[0] ?? '').level);
});
