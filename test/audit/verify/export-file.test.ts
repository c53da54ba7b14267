// An export can be verified alone, and any change is found at its line.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { RecordedEvent } from '@ledger/event-store/event-store.ts';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { checksumOf, createLines, firstChecksum } from '../../../src/audit/export/lines.ts';
import { verifyFile } from '../../../src/audit/verify/export-file.ts';
import { temporaryFolder } from '../../embedded/helpers.ts';
import { payer as aminah, applied, chosen, request, result } from '../../support/payments.ts';
import { runs } from '../../support/property-runs.ts';
import { stored } from '../helpers.ts';

const range = {
  version: 1,
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  merchant: null,
  exportedAt: '2026-12-02T00:00:00.000Z',
} as const;

/** Payments of three events each, in the order of request; the names hold more than ASCII. */
function payment(number: number, description = ''): RecordedEvent[] {
  const at = new Date(Date.parse('2026-11-20T00:00:00.000Z') + number).toISOString();
  const id = `P${number}`;
  const payer = { ...aminah, name: `Nur Aïn 林 ${number}` };
  const data = request({ at, transactionId: id, reference: `INV-${number}`, payer, description });
  return stored([{ type: 'PaymentRequested', data }, chosen(1), applied(result(1, 'succeeded'))], id);
}

function exported(payments: readonly RecordedEvent[][]): string {
  const lines = createLines();
  return [lines.head(range), ...payments.map((events) => lines.payment(events)), lines.end()].join('');
}

const whole = exported([payment(1), payment(2), payment(3)]);
/** The line of each of its events: after the first, nine of them. */
const eventOfLine = (line: number) => ({
  stream: `payment-P${Math.floor((line - 2) / 3) + 1}`,
  revision: (line - 2) % 3,
});

async function verdictOn(t: ExecutionContext, content: string | Buffer) {
  const path = join(await temporaryFolder(t), 'export.jsonl');
  await writeFile(path, content);
  return verifyFile(path);
}

test('an event with a time long before an earlier one of its payment is counted, and no violation', async (t) => {
  const after = (outcome: 'failed' | 'succeeded', at: string) => {
    const event = applied(result(1, outcome));
    return { ...event, data: { ...event.data, at } } as typeof event;
  };
  const asked = { type: 'PaymentRequested', data: request({ at: '2026-11-20T02:00:00.000Z' }) } as const;
  const early = [after('failed', '2026-11-20T00:59:59.999Z'), after('succeeded', '2026-11-20T01:00:00.000Z')];
  const verdict = await verdictOn(t, exported([stored([asked, ...early], 'P1')]));
  t.like(verdict, { violation: null, events: 3, early: { count: 1, first: 'payment-P1 revision 1' } });
  t.like(await verdictOn(t, whole), { early: { count: 0, first: '' } });
});

test('a whole export is whole, and says what it holds', async (t) => {
  const verdict = await verdictOn(t, whole);
  t.like(verdict, { violation: null, events: 9, payments: 3, range });
  t.true(whole.endsWith(`"checksum":"${verdict.checksum}"}\n`));
  t.like(await verdictOn(t, exported([])), { violation: null, events: 0, payments: 0, range });
});

test('any changed byte is found, at its line', async (t) => {
  const bytes = Buffer.from(whole);
  const folder = await temporaryFolder(t);
  let files = 0;
  const property = fc.asyncProperty(
    fc.nat(bytes.length - 1),
    fc.integer({ min: 1, max: 255 }),
    async (at, by) => {
      const changed = Buffer.from(bytes);
      changed[at] = ((changed[at] ?? 0) + by) % 256;
      files += 1;
      const path = join(folder, String(files));
      await writeFile(path, changed);
      const { violation } = await verifyFile(path);
      const line = bytes.subarray(0, at).toString('latin1').split('\n').length;
      t.is(violation?.line, line);
      // What names the event may be what was changed; the line is right all the same.
      const named = bytes.subarray(bytes.lastIndexOf(10, at - 1) + 1).indexOf('"position"');
      const isAfterName = at > bytes.lastIndexOf(10, at - 1) + named;
      if (line > 1 && line < 11 && isAfterName) t.like(violation, eventOfLine(line));
    },
  );
  await fc.assert(property, { numRuns: runs(400) });
});

test('a line that was removed, repeated or moved is found', async (t) => {
  const lines = whole.trimEnd().split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const without = await verdictOn(t, `${lines.toSpliced(index, 1).join('\n')}\n`);
    // Of the last line nothing is left but its absence.
    t.is(without.violation?.line, index + 1 === lines.length ? index : index + 1);
    const twice = await verdictOn(t, `${lines.toSpliced(index, 0, line).join('\n')}\n`);
    t.is(twice.violation?.line, index + 2);
    if (index + 1 === lines.length) continue;
    const moved = await verdictOn(
      t,
      `${lines.toSpliced(index, 2, lines[index + 1] ?? '', line).join('\n')}\n`,
    );
    t.is(moved.violation?.line, index + 1);
  }
  const { violation } = await verdictOn(t, `${lines.toSpliced(4, 2).join('\n')}\n`);
  t.deepEqual(violation, {
    line: 5,
    ...eventOfLine(7),
    reason: 'Lines 5 to 6 of the export are missing before it',
  });
});

test('a file that is cut off anywhere is not whole', async (t) => {
  const bytes = Buffer.from(whole);
  const cuts = [0, 1, whole.indexOf('\n'), whole.indexOf('\n') + 1, bytes.length - 1];
  for (let cut = 7; cut < bytes.length; cut += 97) cuts.push(cut);
  for (const cut of cuts) {
    const { violation } = await verdictOn(t, bytes.subarray(0, cut));
    t.regex(violation?.reason ?? '', /cut off|empty/, String(cut));
  }
  const afterSecond = whole.split('\n').slice(0, 3).join('\n');
  t.like((await verdictOn(t, `${afterSecond}\n`)).violation, { line: 3, ...eventOfLine(3) });
  t.regex((await verdictOn(t, `${whole}\n`)).violation?.reason ?? '', /follows the end/);
});

/** Made by somebody who knows how the checksums are computed. */
function forged(change: (payments: RecordedEvent[][]) => void): string {
  const payments = [payment(1), payment(2), payment(3)];
  change(payments);
  return exported(payments);
}

test('forged checksums do not hide events that were changed, removed or repeated', async (t) => {
  const cases: [change: (payments: RecordedEvent[][]) => void, line: number, reason: RegExp][] = [
    [(all) => Object.assign(all[1]?.[2]?.data as object, { receiptNo: 'X' }), 7, /The chain is broken/],
    [(all) => Object.assign(all[1]?.[1]?.metadata as object, { actor: 'staff:x' }), 6, /The chain is broken/],
    [(all) => all[0]?.splice(1, 1), 3, /Revision 1 of the stream should come here/],
    [(all) => all[2]?.splice(0, 1), 8, /Revision 0 of the stream should come here/],
    [(all) => all.splice(1, 0, payment(1)), 5, /Revision 3 of the stream should come here/],
    [(all) => all.push(payment(1)), 11, /out of order/],
    [(all) => all.reverse(), 5, /out of order/],
    [
      (all) => all.push(payment(4).map((each) => ({ ...each, streamName: 'user-4' }))),
      11,
      /not .* a payment/,
    ],
    [(all) => all.push(stored([{ type: 'Unheard', data: {} } as never], 'Z')), 11, /Unknown event type/],
  ];
  for (const [change, line, reason] of cases) {
    const { violation } = await verdictOn(t, forged(change));
    t.is(violation?.line, line, String(change));
    t.regex(violation?.reason ?? '', reason);
  }
  const [end = '', before = ''] = whole.trimEnd().split('\n').toReversed();
  const text = end.slice(0, end.indexOf(',"checksum"')).replace('"events":9', '"events":8');
  const checksum = checksumOf(before.slice(-66, -2), text);
  const { violation } = await verdictOn(t, whole.replace(end, `${text},"checksum":"${checksum}"}`));
  t.like(violation, { line: 11, reason: 'It counts 8 events of 3 payments; there are 9 of 3' });
});

test('payments that were requested in one moment are in the order of their streams', async (t) => {
  const [one, other] = ['P1', 'P2'].map((id) =>
    stored([{ type: 'PaymentRequested', data: request({ transactionId: id }) }], id),
  ) as [RecordedEvent[], RecordedEvent[]];
  t.like(await verdictOn(t, exported([one, other])), { violation: null, payments: 2 });
  t.regex((await verdictOn(t, exported([other, one]))).violation?.reason ?? '', /out of order/);
});

test('a file that is not an export is refused at its first line', async (t) => {
  const line = (text: string) => `${text},"checksum":"${checksumOf(firstChecksum, text)}"}\n`;
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  for (const content of [
    '\n',
    '{}\n',
    'null\n',
    line('{"line":1'),
    line('{"line":1,"export":{"version":2}'),
    line(`{"line":1,"export":${deep}`),
    line('{"line":1,"export":{"version":{"toString":1}}'),
    Buffer.from([0xff, 0xfe, 0x0a]),
  ]) {
    const { violation, range: said } = await verdictOn(t, content);
    t.like(violation, { line: 1, stream: null, revision: null });
    t.is(said, null);
  }
  const [head = ''] = whole.split('\n');
  const [, checksum = ''] = /([0-9a-f]{64})"\}$/.exec(head) ?? [];
  const text = `{"line":2,"stream":"payment-X","revision":0,"position":{"commit":"0","prepare":"0"},"id":"","created":"2026-11-20T01:00:00.000Z","type":"PaymentRequested","data":${deep},"metadata":{"previousHash":"${firstChecksum}","hash":"x"}`;
  const { violation } = await verdictOn(t, `${head}\n${text},"checksum":"${checksumOf(checksum, text)}"}\n`);
  t.like(violation, { line: 2, stream: 'payment-X', revision: 0 });
  await t.throwsAsync(verifyFile('/nowhere/at/all'), { code: 'ENOENT' });
});

test('15 MB of payments are written and verified in a small heap', async (t) => {
  const path = join(await temporaryFolder(t), 'export.jsonl');
  const lines = createLines();
  const file = createWriteStream(path);
  file.write(lines.head(range));
  const description = 'x'.repeat(50_000);
  for (let number = 1; number <= 300; number += 1)
    if (!file.write(lines.payment(payment(number, description)))) await once(file, 'drain');
  file.end(lines.end());
  await once(file, 'finish');
  const script = fileURLToPath(new URL('../verify-child.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=20', script, path]);
  t.like(JSON.parse(stdout), { violation: null, ...lines.totals() });
  t.like(lines.totals(), { events: 900, payments: 300 });
});
