/** What is said of a rebuild while it runs. */
import { createMeter, progressText, shareDone } from '@ledger/projections/rebuild/progress.ts';
import test from 'ava';
import { openVerifyProgress } from '../../../src/cli/progress.ts';

const at = (commit: bigint) => ({ commit, prepare: commit });

test('the speed is that of the last ten seconds', (t) => {
  let nowMs = 0;
  const meter = createMeter({ monotonicMs: () => nowMs });
  t.is(meter(0), 0);
  nowMs = 5_000;
  t.is(meter(5_000), 1_000);
  for (nowMs = 6_000; nowMs <= 30_000; nowMs += 1_000) meter(5_000);
  t.is(meter(5_000), 0);
});

test('the share is that of the log, the time left follows from it', (t) => {
  const progress = { events: 1_284_000, position: at(600n), head: at(1_000n), eventsPerSecond: 18_400 };
  t.is(shareDone(progress), 0.6);
  t.is(progressText(progress), '1,284,000 events, 18,400/s, 0:47 left');
  t.is(progressText({ ...progress, eventsPerSecond: 0 }), '1,284,000 events');
  t.regex(progressText({ ...progress, position: at(2_000n) }), /0:00 left$/);
  t.is(progressText({ ...progress, events: 0, position: null, eventsPerSecond: 0 }), '0 events');
  t.regex(progressText({ ...progress, eventsPerSecond: 100 }), /2:22:41 left$/);
});

test('verifying shows a bar on a terminal, and nothing elsewhere', (t) => {
  const written: string[] = [];
  const out = (isTTY: boolean) =>
    ({ isTTY, write: (text: string) => written.push(text) > 0 }) as unknown as NodeJS.WriteStream;
  const elsewhere = openVerifyProgress(out(false));
  elsewhere.show({ step: 'events of the log', done: 620_000, share: 0.62 });
  elsewhere.end();
  t.deepEqual(written, []);
  const terminal = openVerifyProgress(out(true));
  terminal.show({ step: 'events of the log', done: 620_000, share: 0.62 });
  t.is(written.pop(), '\r\u001b[K[███████████████░░░░░░░░░] 62 % 620,000 events of the log');
  terminal.end();
  openVerifyProgress(out(true)).show({ step: 'payments', done: 3, share: null });
  t.deepEqual(written, ['\r\u001b[K', '\r\u001b[K3 payments']);
});

test('a new step is shown at once, however little time has passed: it may take minutes', (t) => {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  const { show } = openVerifyProgress({ isTTY: true, write } as unknown as NodeJS.WriteStream);
  show({ step: 'events for payments', done: 8, share: null });
  show({ step: 'rows to compare again in 3 minutes', done: 1, share: null });
  t.is(written.at(-1), '\r\u001b[K1 rows to compare again in 3 minutes');
});
