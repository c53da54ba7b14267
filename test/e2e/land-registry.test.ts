// A land-registry payment of 20 items, paid in a real browser: 20 callbacks, each accepted once; one item that is refused
// holds up none of the others.
import test from 'ava';
import { until } from '../embedded/helpers.ts';
import { openBrowser, skippedWithoutBrowser } from './browser.ts';
import { decideAtBank, payByFpx, startService } from './payer.ts';

const items = Array.from({ length: 20 }, (_, index) => ({
  id_hakmilik: `0101010${String(index + 1).padStart(2, '0')}`,
  urusan: `Cukai tanah ${index + 1}`,
  jumlah_bayaran: 10.05,
}));

async function requestPayment(baseUrl: string, reference: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/landreg/request`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer landreg-key',
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({
      kod_cawangan: '01',
      transaksi_id: reference,
      jumlah_bayaran: 201,
      return_url: `${baseUrl}/?from=bank`,
      maklumat_bayaran: items,
      extra: { name: 'Aminah binti Ismail', email: 'aminah@example.com', ic_no: '900101145678' },
    }),
  });
  const body = (await answer.json()) as { data: { payment_url: string } };
  return body.data.payment_url;
}

test('20 items are paid at once and reported one by one', async (t) => {
  if (skippedWithoutBrowser(t)) return;
  t.timeout(180_000);
  const service = await startService(t, { CALLBACK_RETRY_SCHEDULE: `0s${',1s'.repeat(60)}` });
  const visitor = await openBrowser(t, { viewport: { width: 1280, height: 900 } });
  const { page, complaints } = visitor;
  const counts = async () => {
    const html = await (await fetch(`${service.gatewayUrl}/land-registry`)).text();
    const text = html.replace(/<[^>]*>/g, '');
    return (verdict: string) => Number(new RegExp(`${verdict}: (\\d+)`).exec(text)?.[1] ?? 0);
  };

  // One land title is refused at first.
  await page.goto(`${service.gatewayUrl}/land-registry`);
  await page.getByLabel('Refuse one land title').fill('010101007');
  await page.getByRole('button', { name: 'Save' }).click();

  await page.goto(await requestPayment(service.baseUrl, 'LAND-20'));
  t.true((await page.getByRole('heading', { level: 1 }).innerText()).includes('201.00'));
  await payByFpx(page);
  await decideAtBank(visitor, service, 'Approve', true);
  const receipt = await page.locator('main').innerText();
  for (const figure of ['Official receipt', 'RM 201.00', 'RM 10.05', 'Cukai tanah 20', '-20'])
    t.true(receipt.replaceAll('\u00a0', ' ').includes(figure), `the receipt says ${figure}`);
  t.deepEqual(complaints, []);

  await until(async () => (await counts())('✓ Accepted') === 19 && (await counts())('✕ Refused') >= 1);
  await page.goto(`${service.gatewayUrl}/land-registry`);
  await page.getByLabel('Refuse one land title').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => (await counts())('✓ Accepted') === 20);
  t.is((await counts())('✕ Refused as a duplicate'), 0);
});
