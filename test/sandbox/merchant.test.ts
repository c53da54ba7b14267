// The sandbox's merchant accepts callbacks as JSON and as forms, and shows them as text.
import test from 'ava';
import { startGateway } from './helpers.ts';

test('callbacks are accepted as JSON and as a form, and shown', async (t) => {
  const { url } = await startGateway(t);
  const nasty = '<script>alert(1)</script>';
  const json = await fetch(`${url}/merchant/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'webhook-id': 'T-callback-1' },
    body: JSON.stringify({ status: '1', buyer_name: nasty }),
  });
  t.is(json.status, 204);
  const form = await fetch(`${url}/merchant/callback`, {
    method: 'POST',
    body: new URLSearchParams({ status: '0' }),
  });
  t.is(form.status, 204);
  const page = await (await fetch(`${url}/merchant?status=1&trans_id=${encodeURIComponent(nasty)}`)).text();
  t.true(page.includes('T-callback-1'));
  t.true(page.includes('&lt;script&gt;'));
  t.false(page.includes(nasty));
  t.true(page.includes('Welcome back'));
});

test('a callback that is too large is refused', async (t) => {
  const { url } = await startGateway(t);
  const answer = await fetch(`${url}/merchant/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'x'.repeat(100_000) }),
  });
  t.is(answer.status, 413);
});
