// The sandbox's merchant accepts callbacks as JSON and as forms, and shows them as text.
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { startGateway, webhookSecret } from './helpers.ts';

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

/** Headers of a callback as the library of Standard Webhooks signs it. */
function signedHeaders(body: string, at = new Date(), secret = webhookSecret): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = `v1,AAAA ${new Webhook(secret).sign('T-1', at, body)}`;
  return { 'webhook-id': 'T-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

test('it shows what was received, and whether it is genuine', async (t) => {
  const { url } = await startGateway(t);
  const body = '{"trans_id":"INV-1", "buyer_name":"Siti \u{1f600}"}';
  const other = `whsec_${Buffer.from('another secret of the tests').toString('base64')}`;
  const cases: [string, Record<string, string>, string?][] = [
    ['genuine', signedHeaders(body)],
    ['not signed', {}],
    ['signed with another secret, or changed', signedHeaders(body, new Date(), other)],
    ['signed with another secret, or changed', signedHeaders(body), `${body} `],
    ['signed more than five minutes ago', signedHeaders(body, new Date(Date.now() - 301_000))],
  ];
  for (const [verdict, headers, sent = body] of cases) {
    await fetch(`${url}/merchant/callback`, { method: 'POST', headers, body: sent });
    const page = await (await fetch(`${url}/merchant`)).text();
    t.is(/<span class="state \w+">. ([^<]*)/.exec(page)?.[1], verdict);
    t.true(page.includes('buyer_name&quot;:&quot;Siti \u{1f600}&quot;}'), 'the body as it was sent');
  }
});

test('it answers as it is told', async (t) => {
  const { url } = await startGateway(t);
  const call = (patienceMs: number) =>
    fetch(`${url}/merchant/callback`, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(patienceMs),
    }).then(
      ({ status }) => status,
      () => 'nothing',
    );
  const behave = async (answer: string) =>
    (
      await fetch(`${url}/merchant`, {
        method: 'POST',
        body: new URLSearchParams({ answer }),
        redirect: 'manual',
      })
    ).status;
  for (const [answer, status] of [
    ['refuse', 500],
    ['gone', 410],
    ['hang', 'nothing'],
    ['take', 204],
  ] as const) {
    t.is(await behave(answer), 303);
    t.is(await call(answer === 'hang' ? 300 : 60_000), status, answer);
  }
  t.is(await behave('constructor'), 400);
});
