// The schedule and the hosts of callbacks, and how merchants want theirs, as configuration has them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import test, { type ExecutionContext } from 'ava';
import { readCallbacks } from '../../src/config/callbacks-and-mail.ts';
import { readEnvironment } from '../../src/config/environment-reader.ts';
import { loadMerchants } from '../../src/config/merchants.ts';

function read(environment: Record<string, string>, production = false) {
  const env = readEnvironment({ NODE_ENV: production ? 'production' : 'test', ...environment }, {});
  return { ...readCallbacks(env), faults: env.faults };
}
const hour = 3_600_000;

test('the defaults are those of the documents; production allows no host', (t) => {
  const { scheduleMs, allowHosts, faults } = read({});
  t.deepEqual(scheduleMs, [
    0,
    5_000,
    300_000,
    1_800_000,
    ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
  ]);
  t.deepEqual(allowHosts, ['localhost', '127.0.0.1', '::1']);
  t.deepEqual(faults, []);
  t.deepEqual(read({}, true).allowHosts, []);
});

test('a configured schedule and hosts', (t) => {
  const { scheduleMs, allowHosts, faults } = read(
    { CALLBACK_RETRY_SCHEDULE: '0s, 10s ,2m', CALLBACK_ALLOW_HOSTS: ' Intranet.Example , 10.0.0.5,' },
    true,
  );
  t.deepEqual(scheduleMs, [0, 10_000, 120_000]);
  t.deepEqual(allowHosts, ['intranet.example', '10.0.0.5']);
  t.deepEqual(faults, []);
});

test('how many attempts are made at a time', (t) => {
  t.deepEqual(read({}).concurrency, { total: 256, perReceiver: 8, perMerchant: 32 });
  const given = {
    DELIVERY_ATTEMPTS: '4',
    DELIVERY_ATTEMPTS_PER_RECEIVER: '2',
    DELIVERY_ATTEMPTS_PER_MERCHANT: '3',
  };
  t.deepEqual(read(given).concurrency, { total: 4, perReceiver: 2, perMerchant: 3 });
  for (const name of Object.keys(given))
    for (const value of ['0', '10001', '1.5', 'many', '-1'])
      t.regex(read({ [name]: value }).faults.join(), new RegExp(`^${name} must be a whole number`));
});

for (const schedule of [
  '5s',
  '0s,5',
  '0s,,5s',
  '0s,-5s',
  '0s,999999h',
  'never',
  Array(101).fill('0s').join(),
])
  test(`not a schedule: ${schedule.slice(0, 20)}`, (t) => {
    t.regex(read({ CALLBACK_RETRY_SCHEDULE: schedule }).faults.join(), /^CALLBACK_RETRY_SCHEDULE must be/);
  });

for (const host of ['https://intranet.example', 'intranet.example:8080', '10.0.0.0/8', '*.example', '[::1]'])
  test(`not a host: ${host}`, (t) => {
    t.regex(read({ CALLBACK_ALLOW_HOSTS: host }).faults.join(), /^CALLBACK_ALLOW_HOSTS must be/);
  });

async function merchant(t: ExecutionContext, more: string, secrets?: string | Buffer) {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-merchants-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'merchants.yaml');
  if (secrets !== undefined) await writeFile(join(folder, 'secrets'), secrets);
  await writeFile(file, `merchants: { m: { name: M, id: 1, api_keys: [some-key], ${more} } }`);
  return loadMerchants(file, true).get('m');
}

const logo = async (t: ExecutionContext, content: string | Buffer) =>
  (await merchant(t, 'logo: secrets', content))?.page.logo;

test('a logo is an image that is small, and goes into the page', async (t) => {
  const svg =
    '\n<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by <us> -->\n<svg xmlns="http://www.w3.org/2000/svg"><use href="#a"/></svg>';
  t.is(await logo(t, svg), `data:image/svg+xml;base64,${btoa(svg)}`);
  const png = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
  t.is(await logo(t, png), `data:image/png;base64,${png.toString('base64')}`);
  t.regex((await logo(t, Buffer.from('\xff\xd8\xff\xe0', 'latin1'))) ?? '', /^data:image\/jpeg;/);
  t.regex((await logo(t, Buffer.from('RIFF1234WEBPVP8 ', 'latin1'))) ?? '', /^data:image\/webp;/);
  t.is((await merchant(t, ''))?.page.logo, '');
});

const refusedLogos: Record<string, [content: string | undefined, fault: RegExp]> = {
  'no file': [undefined, /can be read/],
  'an empty file': ['', /SVG, PNG, JPEG or WebP/],
  'a page': ['<!doctype html><svg></svg>', /SVG, PNG, JPEG or WebP/],
  'a large file': [`<svg>${' '.repeat(10_240)}</svg>`, /at most 10240 bytes/],
  ...Object.fromEntries(
    [
      '<script>alert(1)</script>',
      '<s:script xmlns:s="http://www.w3.org/2000/svg"/>',
      '<rect onload="alert(1)"/>',
      '<image href="https://a.example/b.png"/>',
      "<a xlink:href='javascript:alert(1)'/>",
      '<use href="&#x68;ttps://a.example"/>',
      '<foreignObject/>',
      '<style>@import "https://a.example"</style>',
      '<rect fill="url(https://a.example#b)"/>',
      '<set attributeName="x"/>',
      '<?xml-stylesheet href="a.css"?>',
      '<![CDATA[ <script> ]]>',
    ].map((inside) => [inside, [`<svg>${inside}</svg>`, /without scripts/] as const]),
  ),
  // Would keep a careless pattern busy for ever.
  'many comments': ['<!-- a -->'.repeat(1_000), /SVG, PNG, JPEG or WebP/],
  'an entity': ['<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', /SVG, PNG, JPEG or WebP/],
};
for (const [name, [content, fault]] of Object.entries(refusedLogos))
  test(`refused as a logo: ${name}`, async (t) => {
    const refusal = await t.throwsAsync(merchant(t, 'logo: secrets', content), { instanceOf: ConfigError });
    t.regex(refusal?.message ?? '', fault);
    t.regex(refusal?.message ?? '', /merchants\.m\.logo must/);
  });

test('the name in other languages and the contact', async (t) => {
  const page = 'names: { ms: Majlis }, contact: { phone: "+60-3-8000", url: "https://a.example/{lang}" }';
  t.deepEqual((await merchant(t, page))?.page, {
    names: { ms: 'Majlis' },
    logo: '',
    contact: { phone: '+60-3-8000', email: '', url: 'https://a.example/{lang}' },
  });
  for (const [contact, message] of [
    ['phone: "+60 3-8888 0000"', /contact\.phone is not valid \(digits and hyphens\)/],
    ['email: nobody', /contact\.email is not valid \(an email address\)/],
    ['url: "javascript:alert(1)"', /contact\.url is not valid \(http:\/\/ or https:\/\/\)/],
    ['fax: "1"', /contact\.fax is not a known key/],
  ] as const)
    await t.throwsAsync(merchant(t, `contact: { ${contact} }`), { instanceOf: ConfigError, message });
});

test('a merchant without secrets gets unsigned JSON', async (t) => {
  t.like(await merchant(t, ''), { webhookSecrets: [], callbackFormat: 'json' });
});

test('secrets of Standard Webhooks and plain ones, beside each other', async (t) => {
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`, 'a-plain-secret-of-24-chars'];
  t.like(await merchant(t, `webhook_secret: ["${secrets.join('", "')}"], callback_format: form`), {
    webhookSecrets: secrets,
    callbackFormat: 'form',
  });
});

test('secrets of a file beside the merchants file, one in each line', async (t) => {
  const secrets = ['the-newer-secret-of-the-file', 'the-older-secret-of-the-file'];
  const read = await merchant(t, 'webhook_secret_file: secrets', `${secrets.join('\r\n')}\n`);
  t.deepEqual(read?.webhookSecrets, secrets);
});

for (const content of [
  undefined,
  '',
  '\n',
  'private',
  'the-newer-secret-of-the-file\nprivate with blanks, not a secret',
])
  test(`refused: a file of secrets with ${JSON.stringify(content)}`, async (t) => {
    const refusal = await t.throwsAsync(merchant(t, 'webhook_secret_file: secrets', content), {
      instanceOf: ConfigError,
      message: /merchants\.m\.webhook_secret_file must name a file with one secret in each line$/,
    });
    t.notRegex(refusal?.message ?? '', /private|newer-secret/);
  });

test('refused: secrets in the merchants file and in another', async (t) => {
  const secret = 'the-newer-secret-of-the-file';
  await t.throwsAsync(merchant(t, `webhook_secret: [${secret}], webhook_secret_file: secrets`, secret), {
    instanceOf: ConfigError,
    message: /merchants\.m has both webhook_secret and webhook_secret_file$/,
  });
});

for (const more of [
  'webhook_secret: []',
  'webhook_secret: [too-short]',
  'webhook_secret: [whsec_c2hvcnQ=]',
  'webhook_secret: ["whsec_not base64 at all, but long enough for one"]',
  'callback_format: xml',
])
  test(`refused: ${more}`, async (t) => {
    const refusal = await t.throwsAsync(merchant(t, more), { instanceOf: ConfigError });
    t.notRegex(refusal?.message ?? '', /too-short|c2hvcnQ|not base64/);
  });
