import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { createLog } from '@ledger/kernel/log.ts';
import test from 'ava';
import { pdfThreads } from '../../src/roles/pdf-threads.ts';
import { pagesOf, pdfOf, verifyUrl } from '../receipts/pdf-reader.ts';
import { paid } from '../receipts/receipts.ts';
import { documents } from '../support/documents.ts';
import { runWithFewFiles } from '../support/few-files.ts';
import { sen } from '../support/payments.ts';

const log = createLog('silent', 'test');
const pdfThread = pdfThreads(log);
const printed = { lang: 'en', verifyUrl } as const;

test('documents from the thread are the same bytes as those drawn here', async (t) => {
  const receipts = ['Siti', '陈大文', 'முருகன்'].map((payerName) => ({ ...paid(), payerName }));
  const drawn = await Promise.all(receipts.map((each) => pdfThread.receipt(each, printed)));
  for (const [index, receipt] of receipts.entries()) t.deepEqual(drawn[index], await pdfOf(receipt));
});

test('others are served while a long statement is drawn', async (t) => {
  const at = new Date('2026-11-20T01:00:00.000Z');
  const receipts = Array.from({ length: 400 }, (_, index) => ({
    transactionId: `T${index}`,
    receiptNo: `7-20261120-${index}`,
    reference: `INV-${index}`,
    method: 'fpx' as const,
    amountSen: sen(100_000 + index),
    chargeSen: sen(50),
    paidAt: at,
    recordedAt: at,
    isLate: false,
  }));
  const collection = { merchantCode: 'council', day: '2026-11-20', asOf: at };
  const statement = { agency: 'Council', collection, receipts, printedAt: at, lang: 'en' } as const;
  let isDrawn = false;
  const drawing = pdfThread.collection(statement).finally(() => {
    isDrawn = true;
  });
  let turns = 0;
  for (; !isDrawn; turns += 1) await sleep(2);
  // In this thread it would be one turn, or a few.
  t.true(turns > 20, String(turns));
  t.true((pagesOf(await drawing) ?? 0) > 10);
});

test('a document that cannot be drawn is rejected, and the next one is drawn', async (t) => {
  await t.throwsAsync(pdfThread.receipt({} as never, printed), { instanceOf: TypeError });
  t.deepEqual(await pdfThread.receipt(paid(), printed), await documents.receipt(paid(), printed));
});

for (const when of ['at its start', 'while it draws'] as const)
  test.serial(
    `what waits for a thread that ends ${when} is rejected, and the next one is drawn`,
    async (t) => {
      // With a thread of its own.
      const { pdfThreads: own } = await import(
        `../../src/roles/pdf-threads.ts?ends=${encodeURIComponent(when)}`
      );
      const started = once(process, 'worker') as Promise<[Worker]>;
      const drawing = Array.from({ length: 20 }, () => own(log).receipt(paid(), printed));
      const [thread] = await started;
      if (when === 'while it draws') await drawing[0];
      void thread.terminate();
      const drawn = await Promise.allSettled(drawing);
      t.is(drawn.at(-1)?.status, 'rejected');
      t.deepEqual(await own(log).receipt(paid(), printed), await documents.receipt(paid(), printed));
    },
  );

test('an idle thread does not keep the process alive', (t) => {
  const url = new URL('../../src/roles/pdf-threads.ts', import.meta.url).href;
  const script = `
    const { pdfThreads } = await import('${url}');
    const receipt = JSON.parse(process.argv[1]);
    const pdf = await pdfThreads(console).receipt(receipt, { lang: 'en', verifyUrl: '' });
    process.stdout.write(pdf.subarray(0, 5));`;
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, JSON.stringify(paid())],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), timeout: 60_000 },
  );
  t.is(String(stdout), '%PDF-');
  t.is(status, 0);
});

test('PDFs are drawn again once the process can open files again', async (t) => {
  const said = await runWithFewFiles(`
    const { pdfThreads } = await import('./src/roles/pdf-threads.ts');
    const receipt = ${JSON.stringify(paid())};
    const draw = async () => {
      const pdf = await pdfThreads(console).receipt(receipt, { lang: 'en', verifyUrl: '' }).catch(() => 'failed');
      console.log(String(pdf.slice(0, 5)));
    };
    exhaust();
    await draw();
    recover();
    await draw();`);
  t.deepEqual(said, ['faile', '%PDF-']);
});
