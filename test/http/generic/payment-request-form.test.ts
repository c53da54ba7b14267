// /generic/simulate: the call it makes is a real one, the curl line is that call, and nothing typed becomes markup or shell.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { transactionIdOf } from '../../../src/commands/transaction-id.ts';
import { apiKey, startApp } from '../../support/app.ts';

const app = await startApp({ config: { sandbox: { enabled: true } } });
test.after.always(() => app.close());

let references = 0;

const form = (over: Record<string, string> = {}) => {
  references += 1;
  return {
    merchant_code: 'council',
    api_key: apiKey,
    trans_id: `SIM-${references}`,
    amount: '25.00',
    service: 'Licences',
    description: 'Dog licence',
    callback_url: 'https://council.example/c',
    redirect_url: 'https://council.example/r',
    name: '',
    extra: '{"account_no": "A-1"}',
    ...over,
  };
};

const post = async (fields: Record<string, string>) => {
  const response = await fetch(`${app.url}/generic/simulate`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
  return { status: response.status, html: await response.text() };
};

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#92': '\\' };
/** The texts of the page's blocks of code. */
const codes = (html: string) =>
  Array.from(html.matchAll(/<code>(.*?)<\/code>/gs), ([, code = '']) =>
    code.replace(/&(#?\w+);/g, (_, name) => entities[name] ?? ''),
  );
const idOf = (fields: { trans_id: string }) =>
  transactionIdOf('a key of the tests', 'generic', 'council', fields.trans_id);

test('the form is filled in, with no key but the public one', async (t) => {
  const html = await (await fetch(`${app.url}/generic/simulate`)).text();
  t.regex(html, /name="trans_id" value="TRY-\d{14}"/);
  t.regex(html, /name="api_key" value=""/);
  t.false(html.includes(apiKey));
});

test('a JSON answer is shown with a link to the payment page', async (t) => {
  const fields = form();
  const { status, html } = await post({ ...fields, send: 'json' });
  t.is(status, 200);
  t.true(html.includes('HTTP 200'));
  t.like(JSON.parse(codes(html)[0] ?? ''), {
    status: true,
    data: { transaction_id: idOf(fields), status: '3' },
  });
  t.true(html.includes(`<a class="button" href="${app.url}/generic/pay/${idOf(fields)}">`));
  t.like((await app.events(idOf(fields)))[0], {
    data: { personal: { plain: { extra: { account_no: 'A-1' }, payer: { name: '' } } } },
  });
});

test('behind a proxy the call is made for the address of the visitor', async (t) => {
  const other = await startApp({ config: { sandbox: { enabled: true }, trustedProxies: 1 } });
  t.teardown(() => other.close());
  const fields = form();
  const response = await fetch(`${other.url}/generic/simulate`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': '198.51.100.7' },
    body: new URLSearchParams({ ...fields, send: 'json' }),
  });
  t.true((await response.text()).includes('HTTP 200'));
  const lines = other.logged.filter(({ route }) => route === '/generic/request');
  t.deepEqual(
    lines.map(({ address }) => address),
    ['198.51.100.7'],
  );
});

test('the page is the one that the merchant’s payer would see', async (t) => {
  const fields = form();
  const { status, html } = await post({ ...fields, send: 'page' });
  t.is(status, 200);
  t.true(html.includes(`action="${app.url}/generic/pay/${idOf(fields)}?lang=en"`));
});

test('a refusal is shown as the merchant gets it', async (t) => {
  const cases = [
    [{ amount: '1.234' }, 400, 'amount must have at most two decimals'],
    [{ api_key: '' }, 401, 'Missing merchant_code or API key'],
    [{ api_key: 'wrong-key' }, 401, 'Unauthorized - invalid API key for merchant'],
    [{ merchant_code: 'nobody' }, 401, 'Merchant code not registered'],
  ] as const;
  for (const [over, status, message] of cases) {
    for (const send of ['json', 'page']) {
      const { html } = await post({ ...form(over), send });
      t.true(html.includes(`HTTP ${status}`), message);
      t.deepEqual(JSON.parse(codes(html)[0] ?? ''), { status: false, message });
    }
  }
});

test('a form that cannot be sent says why, and sends nothing', async (t) => {
  for (const extra of ['{', '[1]', '"x"', 'null']) {
    const fields = form({ extra });
    t.true((await post(fields)).html.includes('extra must be a JSON object.'), extra);
    t.deepEqual(await app.events(idOf(fields)), []);
  }
  for (const key of ['kéy', 'a b', 'a\r\nX-Evil: 1'])
    t.true((await post(form({ api_key: key }))).html.includes('api_key may contain only ASCII'), key);
});

test('only the call: nothing is sent, and a shell reads the curl line correctly', async (t) => {
  const fields = form({ description: `It's "$(id)" \`id\` \\ !! <b>`, name: "'; touch /tmp/owned; '" });
  const { html } = await post({ ...fields, send: 'nothing' });
  t.deepEqual(await app.events(idOf(fields)), []);
  t.false(html.includes('<b>'));
  const [curl = ''] = codes(html);
  const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace(/^curl/, `printf '%s\\n'`)]);
  const [, url, , authorization, , type, , accept, , body = ''] = stdout.trimEnd().split('\n');
  t.deepEqual(
    [url, authorization, type, accept],
    [
      `${app.url}/generic/request`,
      `Authorization: Bearer ${apiKey}`,
      'Content-Type: application/json',
      'Accept: application/json',
    ],
  );
  t.like(JSON.parse(body), {
    description: fields.description,
    name: fields.name,
    extra: { account_no: 'A-1' },
  });
});

test('a form too large is refused', async (t) => {
  const { status } = await post(form({ extra: 'x'.repeat(70_000) }));
  t.is(status, 413);
});
