// The sandbox logs only the beginning of a transaction id, which gives access to the receipt.
import { createLog } from '@ledger/kernel/log.ts';
import test from 'ava';
import { order, post, startGateway, startReceiver } from './helpers.ts';

test('order numbers are logged as six characters and the attempt', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const posted = Promise.withResolvers<void>();
  const log = createLog('info', 'sandbox', {
    write(line) {
      lines.push(JSON.parse(line));
      if (line.includes('sandbox result posted')) posted.resolve();
    },
  });
  const receiver = await startReceiver(t);
  const gateway = await startGateway(t, undefined, undefined, log);
  const fields = order({ RESPONSE_URL: receiver.url });
  await post(gateway.url, fields);
  await post(`${gateway.url}/orders/${fields.MERCHANT_ORDER_NO}`, { outcome: 'approve' });
  await posted.promise;
  t.deepEqual(
    lines.flatMap(({ orderNo, msg }) => (orderNo ? [[msg, orderNo]] : [])),
    ['sandbox order taken', 'sandbox order decided', 'sandbox result posted'].map((msg) => [
      msg,
      '012345…-1',
    ]),
  );
  t.false(JSON.stringify(lines).includes(fields.TRANS_ID ?? ''));
});

test('a request that fails is logged by its route and not by its path', async (t) => {
  const lines: string[] = [];
  const log = createLog('info', 'sandbox', { write: (line) => void lines.push(line) });
  const gateway = await startGateway(t, undefined, 'a folder that no system opens: \0', log);
  t.is((await fetch(`${gateway.url}/mailbox/0123456789ABCDEFGHJKMNPQRS`)).status, 500);
  t.regex(lines.join(''), /"route":"\/mailbox\/:/);
  t.notRegex(lines.join(''), /0123456789ABCDEFGHJKMNPQRS/);
});
