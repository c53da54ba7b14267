// A merchant replaces its own API key and webhook secret: with overlap, on every process, and nothing in plain text.
import test, { type ExecutionContext } from 'ava';
import { Webhook } from 'standardwebhooks';
import {
  type CredentialCommand,
  createCredentials,
  credentialDecider,
} from '../../../src/commands/credentials.ts';
import { Refused } from '../../../src/commands/decider.ts';
import { agencyPageOf } from '../../../src/config/agency-page.ts';
import type { Merchant } from '../../../src/config/merchants.ts';
import { startReceiver, status } from '../../reactors/receiver.ts';
import { byCode, merchants, startApp, type TestApp, transactionIdKey } from '../../support/app.ts';
import { described } from '../../support/described.ts';
import { testRuntime } from '../../support/runtime.ts';
import { createPayment, merchantHeaders, postRequest, requestBody } from './helpers.ts';

const [council] = merchants as [Merchant];
const configuredSecret = `whsec_${Buffer.alloc(32, 'c').toString('base64')}`;
let codes = 0;

/** A merchant that no other test rotates, in an app whose clock the test moves. */
async function start(t: ExecutionContext) {
  codes += 1;
  const code = `merchant-${codes}`;
  let now = Date.parse('2026-11-20T01:00:00.000Z');
  const merchant = {
    ...council,
    page: agencyPageOf({}),
    code,
    id: 100,
    webhookSecrets: [configuredSecret],
  } as const;
  const clocks = { clock: () => new Date(now), monotonicMs: () => now };
  const config = { merchants: byCode([merchant, ...merchants]) };
  const app = await startApp({ config, ...clocks });
  t.teardown(() => app.close());
  const other = await startApp({ config, ...clocks }, app);
  t.teardown(() => other.close());
  const headers = (key: string) => ({
    ...merchantHeaders,
    'x-merchant-code': code,
    authorization: `Bearer ${key}`,
  });
  const ask = async (key: string, path: string, body?: object, at: TestApp = app) => {
    const response = await fetch(`${at.url}/generic/credentials/${path}`, {
      method: 'POST',
      // Only a request with a body has a content type.
      headers: { ...headers(key), ...(!body && { 'content-type': '' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await described(t, response, `/generic/credentials/{kind}/${path.split('/')[1]}`, 'post');
    const answer = JSON.parse(text) as { message: string; data?: { value: string; others_end_at: string } };
    return { ...answer, status: response.status, value: answer.data?.value ?? '' };
  };
  const works = async (key: string, at: TestApp = app) =>
    (await fetch(`${at.url}/generic/check`, { headers: headers(key) })).status === 200;
  const stored = async () =>
    JSON.stringify(
      (await app.eventStore.load(`merchant-${code}`)).map(({ data, metadata }) => [data, metadata]),
    );
  const pass = (ms: number) => {
    now += ms;
  };
  return { app, other, code, headers, ask, works, stored, pass };
}

const oldKey = council.apiKeys[0] ?? '';
const hour = 3_600_000;

test('a new key is shown once, works everywhere at once, and the old one until its time', async (t) => {
  const { app, other, ask, works, stored, pass, code, headers } = await start(t);
  t.true(await works(oldKey, other), 'the other process knows the merchant');
  const rotated = await ask(oldKey, 'api-key/rotate');
  t.is(rotated.status, 201);
  t.regex(rotated.value, /^key_[\w-]{43}$/);
  t.is(rotated.data?.others_end_at, '2026-11-21T09:00:00+08:00', 'a day later');
  for (const process of [app, other])
    for (const key of [rotated.value, oldKey]) t.true(await works(key, process));
  pass(24 * hour - 1);
  t.true(await works(oldKey));
  pass(1);
  t.false(await works(oldKey));
  t.false(await works(oldKey, other));
  t.true(await works(rotated.value, other));
  t.is((await ask(oldKey, 'api-key/rotate')).status, 401);

  const log = await stored();
  for (const secret of [rotated.value, oldKey]) t.false(log.includes(secret));
  t.false(log.includes('"secret"'), 'not even encrypted: a fingerprint is enough to know a key by');
  t.regex(log, new RegExp(`"actor":"merchant:${code}"`));
  t.false(JSON.stringify(app.logged).includes(rotated.value));
  t.is(
    (await fetch(`${app.url}/generic/check`, { headers: merchantHeaders })).status,
    200,
    'another merchant’s stays',
  );
  const made = await postRequest(app, requestBody(), {
    ...headers(rotated.value),
    accept: 'application/json',
  });
  t.is(made.status, 200);
});

test('an overlap ends early, with the new key alone; a process that has seen nothing asks within five seconds', async (t) => {
  const { other, ask, works, pass } = await start(t);
  t.is((await ask(oldKey, 'api-key/end-overlap')).status, 202, 'nothing to end');
  const { value } = await ask(oldKey, 'api-key/rotate', { overlap_hours: 168 });
  t.true(await works(oldKey, other));
  t.like(await ask(oldKey, 'api-key/end-overlap'), {
    status: 409,
    message: 'Ask with the newest key: this one would end',
  });
  t.is((await ask(value, 'api-key/end-overlap', undefined, other)).status, 202);
  pass(5_000);
  t.false(await works(oldKey));
  t.false(await works(oldKey, other));
  const at = await ask(value, 'api-key/rotate', { overlap_hours: 0 });
  t.true(await works(at.value));
  t.false(await works(value), 'no overlap at all');
});

test('a key that only the old key’s holder asks for again does not give the old one more time', async (t) => {
  const { ask, works, pass } = await start(t);
  const lost = await ask(oldKey, 'api-key/rotate', { overlap_hours: 1 });
  const found = await ask(oldKey, 'api-key/rotate', { overlap_hours: 48 });
  pass(hour);
  t.deepEqual(await Promise.all([oldKey, lost.value, found.value].map((key) => works(key))), [
    false,
    true,
    true,
  ]);
});

test('callbacks are signed with both secrets while they overlap, and the log has neither', async (t) => {
  const { app, ask, stored, pass, headers } = await start(t);
  const receiver = await startReceiver(t, status(204));
  const verifies = async () => {
    const body = JSON.stringify({ callback_url: receiver.url });
    await fetch(`${app.url}/generic/test-callback`, { method: 'POST', headers: headers(oldKey), body });
    const received = receiver.received.at(-1);
    const sent = received?.headers as Record<string, string>;
    const now = sent['webhook-timestamp'] ?? '';
    return [configuredSecret, value].map((secret) => {
      const webhook = new Webhook(secret);
      const signature = webhook.sign(
        sent['webhook-id'] ?? '',
        new Date(Number(now) * 1_000),
        received?.body ?? '',
      );
      return (sent['webhook-signature'] ?? '').split(' ').includes(signature);
    });
  };
  const { status: answered, value } = await ask(oldKey, 'webhook-secret/rotate', { overlap_hours: 2 });
  t.is(answered, 201);
  t.regex(value, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.deepEqual(await verifies(), [true, true]);
  pass(2 * hour);
  t.deepEqual(await verifies(), [false, true]);
  const again = await ask(oldKey, 'webhook-secret/rotate');
  t.deepEqual(await verifies(), [false, true], 'both issued ones sign');
  t.is((await ask(oldKey, 'webhook-secret/end-overlap')).status, 202);
  t.deepEqual(await verifies(), [false, false], 'only the newest');
  const log = await stored();
  for (const secret of [value, again.value, configuredSecret])
    for (const form of [secret, Buffer.from(secret.slice(6), 'base64').toString('hex')])
      t.false(log.includes(form));
});

test('what is not asked for properly changes nothing', async (t) => {
  const { app, ask, stored, headers } = await start(t);
  for (const overlap_hours of [-1, 169, 1.5, '24', null, [], Number.MAX_SAFE_INTEGER])
    t.is((await ask(oldKey, 'api-key/rotate', { overlap_hours })).status, 400, String(overlap_hours));
  for (const kind of ['api-keys', 'API-KEY', '__proto__', '%00', '..%2f'])
    for (const action of ['rotate', 'end-overlap'])
      t.is((await ask(oldKey, `${kind}/${action}`)).status, 404, kind);
  for (const key of ['', 'wrong', `sha256:${'a'.repeat(64)}`])
    t.is((await ask(key, 'api-key/rotate')).status, 401, key);
  const others = { ...headers(oldKey), 'x-merchant-code': 'museum' };
  t.is(
    (await fetch(`${app.url}/generic/credentials/api-key/rotate`, { method: 'POST', headers: others }))
      .status,
    401,
  );
  t.is(await stored(), '[]');
});

test('five are valid at most, and a day has 20 changes in each process', async (t) => {
  const { ask, other, works } = await start(t);
  const statuses: number[] = [];
  for (let change = 0; change < 20; change += 1)
    statuses.push((await ask(oldKey, change < 8 ? 'api-key/rotate' : 'webhook-secret/rotate')).status);
  t.deepEqual(statuses.slice(0, 8), [201, 201, 201, 201, 409, 409, 409, 409]);
  t.is((await ask(oldKey, 'webhook-secret/rotate')).status, 429);
  t.is((await ask(oldKey, 'webhook-secret/end-overlap')).status, 202, 'that is always possible');
  const all = await ask(oldKey, 'api-key/rotate', { overlap_hours: 0 }, other);
  t.is(all.status, 201, 'so is replacing all of them at once');
  t.deepEqual([await works(all.value), await works(oldKey)], [true, false]);
});

test('at once, on two processes: every new key is known, and none is lost', async (t) => {
  const { app, other, ask, works } = await start(t);
  const issued = await Promise.all(
    [app, other, app, other].map((process) => ask(oldKey, 'api-key/rotate', undefined, process)),
  );
  for (const { status: answered, value } of issued) t.true(answered === 201 && (await works(value)));
  t.is(new Set(issued.map(({ value }) => value)).size, 4);
});

test('a key that has just ended cannot end the one after it, also where it is not yet known to have ended', async (t) => {
  const { other, ask, works } = await start(t);
  t.true(await works(oldKey, other), 'the other process knows the keys');
  const { value } = await ask(oldKey, 'api-key/rotate', { overlap_hours: 0 });
  t.true(await works(oldKey, other), 'for some seconds');
  for (const kind of ['api-key', 'webhook-secret'])
    for (const action of ['rotate', 'end-overlap']) {
      const { status: answered } = await ask(oldKey, `${kind}/${action}`, { overlap_hours: 0 }, other);
      t.is(answered, 401, `${kind}/${action}`);
    }
  t.true(await works(value));
});

test('a digest of the configuration is no key', async (t) => {
  const { app } = await start(t);
  const [, digest = ''] = merchants[1]?.apiKeys ?? [];
  t.regex(digest, /^sha256:/);
  const headers = { ...merchantHeaders, 'x-merchant-code': 'museum', authorization: `Bearer ${digest}` };
  t.is((await fetch(`${app.url}/generic/check`, { headers })).status, 401);
});

test('while the event store is away, what was known serves, or the file; a process that cannot know answers 503', async (t) => {
  const { app, ask, code, headers } = await start(t);
  let isAway = false;
  const load: TestApp['eventStore']['load'] = async (...args) => {
    if (isAway) throw new (await import('@ledger/event-store/event-store.ts')).EventStoreUnavailable('away');
    return await app.eventStore.load(...args);
  };
  const merchant = { ...council, code };
  const config = { merchants: byCode([merchant]) };
  let now = 0;
  const away = await startApp({ config, eventStore: { load }, monotonicMs: () => now }, app);
  t.teardown(() => away.close());
  const check = async (key: string) =>
    (await fetch(`${away.url}/generic/check`, { headers: headers(key) })).status;
  isAway = true;
  t.deepEqual([await check(oldKey), await check('key_issued')], [200, 503]);
  isAway = false;
  t.deepEqual([await check(oldKey), await check('wrong')], [200, 401]);
  const { value } = await ask(oldKey, 'api-key/rotate');
  isAway = true;
  now += 60_000;
  t.deepEqual([await check(oldKey), await check(value)], [200, 503]);
  t.truthy(await createPayment(app));
});

test('those who ask at once share a read; who has to know of a key issued just now shares none that began before', async (t) => {
  const { app, ask, code } = await start(t);
  const reads: (() => void)[] = [];
  const load: TestApp['eventStore']['load'] = async (...args) => {
    const found = await app.eventStore.load(...args);
    await new Promise<void>((resolve) => void reads.push(resolve));
    return found;
  };
  const openSealed = async () => ({ kind: 'unavailable', isLost: false }) as const;
  const dependencies = { eventStore: { load }, openSealed, runtime: testRuntime(), transactionIdKey };
  const { checkKey, webhookSecretsOf } = createCredentials(dependencies);
  const merchant = { code, apiKeys: council.apiKeys, webhookSecrets: [configuredSecret] };
  const reading = async (count: number) => {
    while (reads.length < count) await new Promise(setImmediate);
  };
  const old = [checkKey(merchant, oldKey), checkKey(merchant, oldKey), webhookSecretsOf(merchant)] as const;
  await reading(1);
  const { value } = await ask(oldKey, 'api-key/rotate');
  const issued = checkKey(merchant, value);
  reads[0]?.();
  t.deepEqual(await Promise.all(old), ['valid', 'valid', [configuredSecret]]);
  await reading(2);
  reads[1]?.();
  t.is(await issued, 'valid');
  t.is(reads.length, 2);
});

test('a key that was issued just now is known, however long the event store takes', async (t) => {
  const { app, ask, code } = await start(t);
  const openSealed = async () => ({ kind: 'unavailable', isLost: false }) as const;
  // Any wait is over before a read is.
  const runtime = { ...testRuntime(), sleep: async () => undefined };
  const { checkKey } = createCredentials({
    eventStore: app.eventStore,
    openSealed,
    runtime,
    transactionIdKey,
  });
  const merchant = { code, apiKeys: council.apiKeys, webhookSecrets: [] };
  t.is(await checkKey(merchant, oldKey), 'valid');
  const { value } = await ask(oldKey, 'api-key/rotate');
  t.is(await checkKey(merchant, value), 'valid');
});

test('one that the operator adds later is valid, whatever was rotated before', (t) => {
  const issue = (fingerprint: string, at: string, configured: string[], by: string): CredentialCommand => ({
    type: 'IssueCredential',
    at: `2026-11-20T0${at}:00:00.000Z`,
    kind: 'api-key',
    by,
    fingerprint,
    secret: null,
    configured: { 'api-key': configured, 'webhook-secret': [] },
    othersEndAt: `2026-11-20T0${Number(at) + 1}:00:00.000Z`,
  });
  const { decide, evolve, initial } = credentialDecider;
  const run = (state: typeof initial, command: CredentialCommand) => {
    const decided = decide(command, state);
    if (decided instanceof Refused) throw decided;
    return { events: decided, state: decided.reduce(evolve, state) };
  };
  const first = run(initial, issue('new', '1', ['configured'], 'configured'));
  const second = run(first.state, issue('newer', '3', ['configured', 'added'], 'added'));
  t.like(second.events[0], { data: { others: ['added', 'new'] } });
});

test('an overlap is not said to have ended where others stay valid', (t) => {
  const at = '2026-11-20T01:00:00.000Z';
  const end = (configured: readonly string[], by: string): CredentialCommand => ({
    type: 'EndOverlap',
    at,
    kind: 'api-key',
    by,
    configured: { 'api-key': configured, 'webhook-secret': [] },
  });
  const { decide, evolve, initial } = credentialDecider;
  t.like(decide(end(['one', 'two'], 'two'), initial), { code: 'not_newest_key' });
  t.deepEqual(decide(end(['one'], 'one'), initial), []);
  const othersEndAt = '2026-11-21T01:00:00.000Z';
  const state = evolve(initial, {
    type: 'CredentialIssued',
    data: { at, kind: 'api-key', fingerprint: 'new', others: ['one'], othersEndAt },
  });
  t.like(decide(end(['one', 'added by the operator'], 'new'), state), { code: 'not_newest_key' });
  t.like(decide(end(['one'], 'new'), state), [{ type: 'OverlapEnded' }]);
});

test('when the key of its only webhook secret is lost, no callback goes out unsigned', async (t) => {
  const { app, ask, code } = await start(t);
  await ask(oldKey, 'webhook-secret/rotate', { overlap_hours: 0 });
  const { webhookSecretsOf } = createCredentials({
    eventStore: app.eventStore,
    openSealed: async () => ({ kind: 'unavailable', isLost: true }),
    runtime: testRuntime(),
    transactionIdKey,
  });
  const merchant = { code, apiKeys: council.apiKeys, webhookSecrets: [configuredSecret] };
  await t.throwsAsync(webhookSecretsOf(merchant), { message: /every webhook secret of merchant .* is lost/ });
  t.deepEqual(await webhookSecretsOf({ ...merchant, code: 'unknown', webhookSecrets: [] }), []);
});
