// The OpenAPI document: independent checkers find no fault, and it describes exactly the endpoints there are.
import { spawnSync } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import Router from '@koa/router';
import { derivedIdPattern } from '@ledger/kernel/derived-id.ts';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { callbackMessage } from '../../src/clients/merchant/callback-message.ts';
import { paymentModes } from '../../src/common/payment-modes.ts';
import { errorCodes } from '../../src/http/api/bodies.ts';
import { defaultPageSize, maxPageSize } from '../../src/http/api/list.ts';
import { addApiRoutes } from '../../src/http/api/routes.ts';
import { addGenericRoutes } from '../../src/http/generic/routes.ts';
import { addLandregRoutes } from '../../src/http/landreg/routes.ts';
import { createDescription } from '../../src/http/openapi.ts';
import type { RequestState } from '../../src/http/server/context.ts';
import type { Dependencies } from '../../src/http/server/dependencies.ts';
import { sen } from '../support/payments.ts';
import { testRuntime } from '../support/runtime.ts';

const config = {
  baseUrl: 'https://payments.example',
  production: true,
  maxAmountSen: sen(100_000_000),
  sandbox: { enabled: true },
};
const description = createDescription(config);

test('it is OpenAPI 3.1', async (t) => {
  const { valid, errors } = await new Validator().validate(structuredClone(description));
  t.true(valid, JSON.stringify(errors));
});

test('redocly finds no problem in it', async (t) => {
  const rules = {
    // The address of a development service, which the interface document asks for.
    'no-server-example.com': 'off',
    // Answers of health and of this description that are no success are 5xx alone.
    'operation-4xx-response': 'off',
    // The gateway is answered with a redirect.
    'operation-2xx-response': 'off',
  } as const;
  const problems = await lintFromString({
    source: JSON.stringify(description),
    absoluteRef: 'openapi.json',
    config: await createConfig({ extends: ['recommended-strict'], rules }),
  });
  t.deepEqual(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  );
});

type Callback = {
  parameters: { name: string; required?: boolean }[];
  requestBody: { content: Record<string, unknown> };
};

test('it has the headers and both formats of a merchant’s callback', (t) => {
  const { post: request } = description.paths['/generic/request'] as unknown as {
    post: { callbacks: { paymentChanged: Record<string, { post: Callback }> } };
  };
  const described = Object.values(request.callbacks.paymentChanged).map(({ post }) => post);
  const { parameters = [], requestBody } = described[0] ?? {};
  const sent = (merchant: Parameters<typeof callbackMessage>[1]) =>
    callbackMessage({}, merchant, { id: 'an-id', correlationId: 'a-correlation', now: new Date(0) }).headers;
  const signed = sent({ callbackFormat: 'form', webhookSecrets: ['a secret of 24 characters'] });
  const unsigned = sent({ callbackFormat: 'json', webhookSecrets: [] });
  const types = [signed, unsigned].map((headers) => headers['content-type']);
  t.deepEqual(Object.keys(requestBody?.content ?? {}), types);
  const ownHeaders = (headers: object) => Object.keys(headers).filter((name) => /^(?:webhook|x)-/.test(name));
  t.deepEqual(
    parameters.map(({ name }) => name),
    ownHeaders(signed),
  );
  t.deepEqual(
    parameters.filter(({ required }) => required).map(({ name }) => name),
    ownHeaders(unsigned),
  );
});

test('X-Merchant-Code is required where the body is not read for credentials, and only there', (t) => {
  const headersOnly = /^\/generic\/(?:payments|credentials\/\{kind\}\/end-overlap)/;
  const operations = Object.entries(description.paths).flatMap(([path, group]) =>
    Object.values(group).map(({ parameters = [] }) => ({ path, parameters })),
  );
  for (const { path, parameters } of operations)
    for (const parameter of parameters as readonly { name: string; required?: boolean }[])
      if (parameter.name === 'X-Merchant-Code') t.is(parameter.required, headersOnly.test(path), path);
});

/** What making the routes looks at; no handler is called. */
const parts = {
  config: {
    ...config,
    apiKeys: [],
    landregAccessKeys: ['a key'],
    merchants: new Map(),
    methods: [],
    transactionIdKey: 'another key',
    linkKeys: { current: 'a link key', others: [], original: 'another key' },
    gateway: { url: 'https://gateway.example', secret: 'a secret', acceptUnsigned: false },
  },
  documents: {},
  eventStore: {},
  personalData: {},
  registry: {},
  runtime: testRuntime(),
} as unknown as Dependencies;

test('it describes every endpoint there is, and no other', (t) => {
  const router = new Router<RequestState>();
  addGenericRoutes(router, parts);
  addLandregRoutes(router, parts);
  addApiRoutes(router, parts);
  const shape = (path: string) => path.replace(/:\w+|\{\w+\}/g, '{}');
  const routes = router.stack
    .flatMap(({ methods, path }) => methods.map((method) => `${method} ${shape(String(path))}`))
    .filter((route) => !route.startsWith('HEAD '));
  const described = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${shape(path)}`),
  );
  t.deepEqual(described.toSorted(), [...routes, 'GET /openapi.json'].toSorted());
});

test('where there is no sandbox its pages are not described', (t) => {
  const { paths, tags } = createDescription({ ...config, sandbox: { enabled: false } });
  t.false('/generic/debug' in paths || '/generic/simulate' in paths);
  t.false(tags.some(({ name }) => name === 'Test pages'));
});

const samples = Object.values(description.paths).flatMap((operations) =>
  Object.values(operations).map((operation) => ({
    id: operation.operationId,
    sources: new Map(operation['x-codeSamples'].map(({ label, source }) => [label, source])),
  })),
);

test('samples of a download save the file and do not print it', (t) => {
  const downloads = samples.filter(({ id }) => id.endsWith('DownloadReceipt'));
  t.is(downloads.length, 2);
  for (const { sources } of downloads)
    for (const source of sources.values()) {
      t.true(source.includes('answer.pdf'));
      t.notRegex(source, /console\.log|echo/);
    }
});

/** The messages of all examples of refusals. */
function refusalsOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { message, status, success } = node as { message?: unknown; status?: unknown; success?: unknown };
  const own = (status === false || success === false) && typeof message === 'string' ? [message] : [];
  return [...own, ...Object.values(node).flatMap(refusalsOf)];
}

test('the refusals in its examples are in the program’s own words', async (t) => {
  const files = await Array.fromAsync(glob('src/{commands,http}/**/*.ts'), (file) => readFile(file, 'utf8'));
  const words = files.join('\n').replace(/\$\{[^}]*\}/g, '');
  const refusals = new Set(refusalsOf(description.paths));
  t.true(refusals.size > 10);
  for (const refusal of refusals) {
    const told = refusal.replace(/^amount |\d+|(?<=Content-Type must be ).*/, '');
    t.true(words.includes(told), refusal);
  }
});

test('it has the credentials that a body may contain', (t) => {
  const { GenericPaymentRequest, Rotation, TestCallback } = description.components.schemas;
  for (const schema of [GenericPaymentRequest, Rotation, TestCallback])
    t.like(schema, { properties: { merchant_code: { type: 'string' }, api_key: { type: 'string' } } });
});

test('what the program accepts is valid for a validator that divides in binary and checks formats', (t) => {
  const { properties } = description.components.schemas.GenericPaymentRequest as {
    properties: Record<'amount' | 'email' | 'expires_at', object>;
  };
  const formats = { email: /@/, 'date-time': /T/ };
  const accepts = (schema: object, value: unknown) =>
    new Ajv2020({ strict: false, formats }).validate(schema, value);
  t.true(accepts(properties.amount, 4.35));
  for (const none of ['', null])
    for (const schema of [properties.email, properties.expires_at]) t.true(accepts(schema, none));
  t.false(accepts(properties.email, 'aminah'));
});

test('it names every error code of /api/v1', (t) => {
  t.like(description.components.schemas.ErrorResponse, { properties: { code: { enum: [...errorCodes] } } });
});

test('what it repeats of the program is so', (t) => {
  const { GatewayResult, PaymentChoice } = description.components.schemas;
  t.like(GatewayResult, { properties: { PAYMENT_MODE: { enum: [...paymentModes] } } });
  // These decide about a payment too, although no gateway has to send them.
  t.like(GatewayResult, { properties: { CURRENCY: { type: 'string' }, DIRECTION: { type: 'string' } } });
  t.like(PaymentChoice, { properties: { method: { enum: [...paymentModes] } } });
  const [limit, startingAfter] = description.paths['/api/v1/users']?.get?.parameters ?? [];
  t.like(limit, { schema: { minimum: 1, maximum: maxPageSize, default: defaultPageSize } });
  t.like(startingAfter, { schema: { pattern: derivedIdPattern.source } });
});

for (const { id, sources } of samples)
  test(`samples of ${id} are valid in their languages`, (t) => {
    t.deepEqual([...sources.keys()], ['curl', 'JavaScript', 'PHP']);
    const shell = spawnSync('bash', ['-n'], { input: sources.get('curl'), encoding: 'utf8' });
    t.is(shell.stderr, '');
    t.notThrows(() => new Function(`return async () => {${sources.get('JavaScript')}}`));
    const php = sources.get('PHP') ?? '';
    t.is((php.match(/[[(]/g) ?? []).length, (php.match(/[\])]/g) ?? []).length);
  });
