// Requests made from the description, right and wrong in every part, against the running service: every status is
// documented, every body valid, and none is a 5xx.
import { once } from 'node:events';
import { request as httpRequest, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { pino } from 'pino';
import { createTransactionRegistry } from '../../src/clients/transaction-registry/registry.ts';
import { startService } from '../http/api/helpers.ts';
import { createPayment, resultFields, signed, tokenOf } from '../http/generic/helpers.ts';
import { createLandPayment, landResult } from '../http/landreg/helpers.ts';
import { anyText } from '../support/any-text.ts';

import { apiKey, landregAccessKey, startApp, type TestApp } from '../support/app.ts';
import { createDatabase } from '../support/postgres.ts';
import { runs } from '../support/property-runs.ts';
import { registryRecord, startRegistry } from '../support/registry.ts';
import { testRuntime } from '../support/runtime.ts';
import { createCheck, type DescribedOperation, type Description, type Received } from './answers.ts';

const postgres = await createDatabase();

const usersKey = 'a-key-of-the-users';

type Call = { method: string; path: string; headers: Record<string, string>; body?: string };

/** Not with fetch, which sends no body with GET. */
async function send({ url }: TestApp, { method, path, headers, body }: Call): Promise<Received> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const outgoing = httpRequest(url + path, {
    method: method.toUpperCase(),
    headers: { ...headers, ...length },
  });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

// ── What is right ────────────────────────────────────────────────────────────────────────────────────

const credentials: Readonly<Record<string, Record<string, string>>> = {
  apiKey: { authorization: `Bearer ${usersKey}` },
  merchantKey: { authorization: `Bearer ${apiKey}`, 'x-merchant-code': 'council' },
  landregKey: { authorization: `Bearer ${landregAccessKey}` },
};

/** Values that a right request to an operation has in its path and its body. */
type Right = { params: Readonly<Record<string, string>>; body: Record<string, unknown> };

/** One payment that is paid and one that is not, each with a token of its payment page. */
type Payments = { paid: Payment; open: Payment };
type Payment = { id: string; token: string };

async function preparePayments(
  app: TestApp,
  channel: string,
  create: (reference: string) => Promise<string>,
  resultOf: (transactionId: string) => Record<string, string>,
): Promise<Payments> {
  const prepared = async (reference: string): Promise<Payment> => {
    const id = await create(reference);
    const page = await fetch(`${app.url}/${channel}/pay/${id}`, { headers: credentials.landregKey ?? {} });
    return { id, token: tokenOf(await page.text()) };
  };
  const payments = { paid: await prepared('PAID'), open: await prepared('OPEN') };
  const body = new URLSearchParams(signed(resultOf(payments.paid.id)));
  await fetch(`${app.url}/${channel}/response`, { method: 'POST', body, redirect: 'manual' });
  return payments;
}

/** Users and payments for the requests to be about. Makes the function that fills in a right request. */
async function prepare(app: TestApp) {
  const created = await fetch(`${app.url}/api/v1/users`, {
    method: 'POST',
    headers: { ...credentials.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Aminah', email: 'aminah@agency.example' }),
  });
  const { id: userId } = (await created.json()) as { id: string };
  const generic = await preparePayments(
    app,
    'generic',
    (reference) => createPayment(app, { trans_id: reference }),
    resultFields,
  );
  const landreg = await preparePayments(
    app,
    'landreg',
    async (reference) => (await createLandPayment(app, { transaksi_id: reference })).transactionId,
    landResult,
  );

  const toCancel = await createPayment(app, { trans_id: 'CANCEL' });

  const rightOf = (path: string, number: number): Right => {
    const { paid, open } = path.startsWith('/landreg') ? landreg : generic;
    const { id, token } = number % 2 === 0 ? paid : open;
    const ownId = path.endsWith('/cancel') && number % 2 === 1 ? toCancel : id;
    const reported = number % 3 === 0 ? unknownId : paid.id;
    const choice = { token, method: 'fpx', bank_fpx: 'MB2U0227' };
    const bodies: Record<string, Record<string, unknown>> = {
      '/api/v1/users': { name: 'Siti', email: `siti-${number}@agency.example` },
      // Few references, so that some are asked for again for another amount, or another branch.
      '/generic/request': { trans_id: `C-${number % 3}`, amount: `${1 + (number % 5)}.50` },
      '/landreg/request': { transaksi_id: `C-${number % 3}`, kod_cawangan: `0${number % 2}` },
      '/generic/test-callback': { callback_url: 'http://127.0.0.1:9/callback' },
      '/generic/response': signed(resultFields(reported)),
      '/landreg/response': signed(landResult(reported)),
      '/generic/pay/{id}': choice,
      '/landreg/pay/{id}': choice,
    };
    return {
      params: {
        id: path.startsWith('/api') ? userId : ownId,
        transaksi_id: 'PAID',
        delivery: 'callback-1',
        kind: 'webhook-secret',
      },
      body: bodies[path] ?? {},
    };
  };
  return { rightOf, landPaidId: landreg.paid.id };
}

const unknownId = '00000000000000000000000000';

/** A registry that knows of every transaction that it is asked for, by id as the record of the one. */
function knowingRegistry(landPaidId: string): RequestListener {
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://registry');
    const [key, value] = [searchParams.get('key'), searchParams.get('value')];
    const answers: Record<string, unknown> = {
      '/transactions': [registryRecord(searchParams.get('merchant_trans_id') ?? '')],
      '/transactions/47': registryRecord(landPaidId),
      '/transaction-extras': [{ transaction_id: '47', key, value }],
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[pathname]));
  };
}

// ── What may be wrong with it ────────────────────────────────────────────────────────────────────────

const often = <T>(right: T, wrong: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(right) }, wrong);
const words = fc.oneof(fc.string({ maxLength: 40 }), anyText({ maxLength: 10 }));

/** Each part right more often than not. */
const changes = fc.record({
  number: fc.nat(1000),
  credentials: often('right', fc.constantFrom('none', 'wrong')),
  param: often<string | null>(null, words),
  query: often<string | null>(null, words),
  accept: fc.constantFrom<string>('application/json', 'text/html', '*/*', 'image/png', ''),
  type: often<string | null>(
    null,
    fc.constantFrom('text/plain', 'application/xml', 'multipart/form-data', ''),
  ),
  encoding: fc.nat(),
  field: often<[number, unknown] | null>(
    null,
    fc.tuple(fc.nat(), fc.option(fc.jsonValue(), { nil: undefined })),
  ),
  body: often<string | null>(
    null,
    fc.oneof(words, fc.json(), fc.constant('x'.repeat(70_000)), fc.constant(`{"a":"${'x'.repeat(70_000)}"}`)),
  ),
});
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;

const right: Change = {
  number: 1,
  credentials: 'right',
  param: null,
  query: null,
  accept: 'application/json',
  type: null,
  encoding: 0,
  field: null,
  body: null,
};

/** Tried on every operation, so that it does not hang on chance which answers are met. */
const variations: Change[] = [
  right,
  { ...right, accept: 'text/html' },
  // The same reference for something else, a payment that is paid, a result of one that is not known.
  ...[2, 3, 4, 6, 9].map((number) => ({ ...right, number })),
  { ...right, credentials: 'none' },
  { ...right, credentials: 'wrong' },
  { ...right, param: 'unknown' },
  { ...right, query: '-1' },
  { ...right, type: 'text/plain', body: 'text' },
  // Parts without a boundary between them.
  { ...right, type: 'multipart/form-data', body: 'text' },
  { ...right, body: '{' },
  { ...right, body: `{"a":"${'x'.repeat(70_000)}"}` },
  ...Array.from({ length: 12 }, (_, place) => ({
    ...right,
    field: [place, { toString: 0 }] as [number, unknown],
  })),
];

function callOf(
  path: string,
  method: string,
  operation: DescribedOperation,
  change: Change,
  rightOf: (path: string, number: number) => Right,
): Call {
  const { parameters = [], requestBody, security } = operation;
  const filling = rightOf(path, change.number);
  const [scheme] = Object.keys(security[0] ?? {});
  const shown = change.credentials === 'right' && scheme ? (credentials[scheme] ?? {}) : {};
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(change.param?.toWellFormed() || filling.params[name] || ''),
  );
  const asked = parameters.filter(({ in: place }) => place === 'query' && change.query !== null);
  const query = new URLSearchParams(Object.fromEntries(asked.map(({ name }) => [name, change.query ?? ''])));
  const headers = {
    ...shown,
    ...(change.credentials === 'wrong' && { authorization: 'Bearer another', 'x-merchant-code': 'council' }),
    ...(change.accept !== '' && { accept: change.accept }),
  };
  const call = { method, path: `${filled}${query.size > 0 ? `?${query}` : ''}`, headers };
  if (!requestBody) {
    const type = change.type ? { 'content-type': change.type } : {};
    return change.body === null ? call : { ...call, headers: { ...headers, ...type }, body: change.body };
  }

  const types = Object.keys(requestBody.content).filter((type) => type !== 'multipart/form-data');
  const type = types[change.encoding % types.length] ?? '';
  const fields = changedField({ ...requestBody.content[type]?.example, ...filling.body }, change.field);
  const written =
    type === 'application/json' ? JSON.stringify(fields) : String(new URLSearchParams(texts(fields)));
  return {
    ...call,
    headers: { ...headers, ...(change.type !== '' && { 'content-type': change.type ?? type }) },
    body: change.body ?? written,
  };
}

function changedField(fields: Record<string, unknown>, field: Change['field']): Record<string, unknown> {
  const names = Object.keys(fields);
  const name = field && names[field[0] % names.length];
  return name ? { ...fields, [name]: field[1] } : fields;
}

function texts(fields: Record<string, unknown>): [string, string][] {
  return Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
  ]);
}

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────────

/** The same requests on every run: a fault shows on the first. */
const seed = 1;

/** Every variation, and what chance adds. A PDF takes long to draw, and is the same whatever else is asked for. */
const runsOf = ({ responses }: DescribedOperation) =>
  variations.length + (responses['200']?.content?.['application/pdf'] ? 5 : runs(56));

/**
 * Documented, and not met here: an 11th attempt to pay takes ten payments that went wrong, a callback is refused after 50 attempts, the
 * overlap of webhook secrets can be ended with any key, and a receipt is sent again
 * only ten minutes after the reactors have sent it.
 */
const notMet = [
  'genericSendAgain 409',
  'genericEndOverlap 409',
  'genericChooseMethod 409',
  'genericSendReceipt 303',
  'landregChooseMethod 409',
  'landregSendReceipt 303',
];

/** After one wrong credential, everything from this address that has a key for the same is refused. */
const rateLimits = { failuresPerMinute: 1, callsPerSecond: 1_000, pagesPerMinute: 1 };

test('every answer matches the description', async (t) => {
  const registry = await startRegistry(t);
  const log = pino({ level: 'silent' });
  const config = { apiKeys: [usersKey], sandbox: { enabled: true } };
  const service = await startService(t, postgres, {
    config,
    registry: createTransactionRegistry({
      runtime: testRuntime(),
      config: { url: registry.url, token: 'a-token' },
      log,
      timeoutMs: 5_000,
    }),
  });
  await service.runProjections();
  const description = (await (await fetch(`${service.url}/openapi.json`)).json()) as Description;
  const { rightOf, landPaidId } = await prepare(service);
  registry.answer(knowingRegistry(landPaidId));
  const check = createCheck(description);
  const pausing = await startApp({ config: { ...config, rateLimits } }, service);
  t.teardown(pausing.close);
  const missed: string[] = [];

  for (const [path, operations] of Object.entries(description.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const met = new Set<string>();
      await fc.assert(
        fc.asyncProperty(changes, async (change) => {
          const call = callOf(path, method, operation, change, rightOf);
          const answer = await send(service, call);
          met.add(String(answer.status));
          const fault = check(operation, answer);
          if (fault)
            throw new Error(
              `${operation.operationId}: ${fault}; asked ${JSON.stringify(call).slice(0, 500)}`,
            );
        }),
        {
          seed,
          numRuns: runsOf(operation),
          examples: variations.map((it): [Change] => [it]),
          includeErrorInReport: true,
        },
      );
      if (operation.responses['429'])
        for (const accept of ['application/json', 'text/html']) {
          // Each time: a pause lasts a minute only.
          for (const guess of ['/generic/check', '/landreg/pay/0', '/api/v1/users'])
            await fetch(`${pausing.url}${guess}`, {
              headers: { authorization: 'Bearer guess', 'x-merchant-code': 'council' },
            });
          const call = callOf(path, method, operation, { ...right, accept }, rightOf);
          const answer = await send(pausing, call);
          t.is(check(operation, answer), null);
          met.add(String(answer.status));
        }
      if (operation.responses['304']) {
        const call = callOf(path, method, operation, right, rightOf);
        const { etag } = (await send(service, call)).headers;
        const headers = { ...call.headers, 'if-none-match': String(etag) };
        const answer = await send(service, { ...call, headers });
        t.is(check(operation, answer), null);
        met.add(String(answer.status));
      }
      missed.push(
        ...Object.keys(operation.responses)
          .filter((status) => Number(status) < 500 && !met.has(status))
          .map((status) => `${operation.operationId} ${status}`),
      );
    }
  t.deepEqual(missed, notMet);
});
