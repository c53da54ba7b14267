// Accounts that are limited to some merchants: to them, nothing differs whether the others' payments exist or not.
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import { type PaymentEvent, paymentStream } from '../../../src/events/payment.ts';
import { roles, userStream } from '../../../src/events/user.ts';
import { hasPoppler } from '../../receipts/pdf-reader.ts';
import { startApp } from '../../support/app.ts';
import { addUser, changeUser, type Member, signIn } from '../../support/console.ts';
import { applied, chosen, duplicated, request, result, sen, succeeded } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { wholeFile } from '../../support/whole-file.ts';
import { postResult, resultFields, signed } from '../generic/helpers.ts';
import { abandoned, type Populated, paidTwice, startPopulated } from './populated.ts';
import { foreign, nobodys, own, queriesOf, tryAll } from './scope-requests.ts';

/** One console for the first three tests: the first fills it, the others find its payments. */
const populated = await startPopulated(wholeFile, await createDatabase());

async function addOwn({ payment }: Populated) {
  await payment([chosen(1), succeeded(result(1, 'succeeded'))], { reference: 'OWN-1' });
  await payment(paidTwice, { reference: 'OWN-2' });
  await payment([chosen(1), applied(result(1, 'failed'))], { reference: 'OWN-3' });
}

const delivered: PaymentEvent = {
  type: 'CallbackDelivered',
  data: { at: '2026-11-20T02:00:00.000Z', delivery: 'callback-1', attempt: 1, durationMs: 5, status: 200 },
};

/** Payments of another agency by the same payer, one of which shares its numbers with one of ours. */
async function addForeign({ app, payment }: Populated) {
  const merchant = { code: 'museum', id: 8, name: 'Museum of Ships' };
  const over = { merchant, amountSen: sen(777_777), callbackUrl: 'https://museum.example/callback' };
  const paid = { ...result(1, 'succeeded'), amountSen: sen(777_777) };
  await payment([chosen(1), succeeded(paid), abandoned], { ...over, reference: 'HIDDEN-1' });
  await payment([chosen(1), succeeded(paid), duplicated({ ...paid, gatewayTransactionId: 'P9' }, 'P1')], {
    ...over,
    reference: 'HIDDEN-2',
  });
  await payment([chosen(1), succeeded(result(1, 'succeeded'))], {
    merchant,
    reference: 'HIDDEN-3',
    sharesNumbers: true,
  });
  await payment([chosen(1), succeeded(paid), delivered], { ...over, reference: 'OWN-1' });
  await postResult(app, signed(resultFields('0'.repeat(26))));
}

test.serial('whether other merchants have payments, nobody with a scope can tell', async (t) => {
  const { app, caughtUp } = populated;
  await addOwn(populated);
  await caughtUp();
  // An admin may try everything; of the others, whether they are limited at all.
  const limited = await Promise.all(
    roles.map(async (role) => {
      const member = await signIn(app, role, ['council']);
      const ask = async () =>
        role === 'admin'
          ? await tryAll(populated, member, [...own.slice(1, 2), ...foreign.slice(0, 2), nobodys])
          : await tryAll(populated, member, foreign.slice(0, 1), () => ['', 'merchant=museum']);
      return { role, ask, before: await ask() };
    }),
  );
  const all = await signIn(app, 'admin');
  const askAll = () =>
    tryAll(populated, all, [], (path) =>
      queriesOf(path).filter((query) => /^$|^day=|^state=|^account=|known=/.test(query)),
    );
  const seenBefore = await askAll();
  await addForeign(populated);
  await caughtUp();
  const heads = async () =>
    Promise.all(foreign.map(async (id) => (await app.eventStore.load(paymentStream(id))).length));
  const unchanged = await heads();
  for (const { ask, before, role } of limited)
    for (const [asked, answer] of await ask()) {
      t.is(answer, before.get(asked) ?? '', `${role}: ${asked}`);
      const shown = answer.replaceAll(/value="[^"]*"|(?:href|action)="[^"]*"/g, '');
      const at = shown.search(/HIDDEN|[Mm]useum|7,?777\.77/);
      const found = at < 0 ? '' : shown.slice(Math.max(0, at - 60), at + 80);
      // Forms show again what was typed.
      if (!/HIDDEN|museum|7777/.test(asked)) t.is(found, '', asked);
    }
  t.deepEqual(await heads(), unchanged);
  const seenAfter = await askAll();
  const paths = new Set([...seenBefore.keys()].map((asked) => asked.split(' ').slice(0, 2).join(' ')));
  for (const path of paths) {
    const isSeen = [...seenBefore].some(
      ([asked, answer]) => asked.startsWith(`${path} `) && answer !== seenAfter.get(asked),
    );
    const isOnlyForm = /^get .*payments\/(find|by-payer)$/.test(path) || path === 'get /console/export';
    if (isOnlyForm || (path.endsWith('.pdf') && !hasPoppler)) continue;
    t.true(isSeen, `${path} shows others what is new, so that this test can fail`);
  }
});

test.serial('a scope takes effect at the next request, and lasts when its merchant is gone', async (t) => {
  const { app, payment, caughtUp } = populated;
  const former = await payment([], {
    merchant: { code: 'library', id: 9, name: 'Library' },
    reference: 'FORMER',
  });
  await caughtUp();
  const member = await signIn(app, 'member');
  const settlements = async () => (await member.get('/console/settlements')).status;
  const isShown = async (id: string) => (await member.get(`/console/payments/${id}`)).status === 200;
  const hidden = foreign[0] ?? '';
  t.is(await settlements(), 200);
  const grant = async (merchants: readonly string[] | null) =>
    changeUser(app.eventStore, member.id, {
      type: 'GrantConsoleAccess',
      granted: { merchants, configured: merchants ?? [] },
    });
  await grant(['library']);
  t.is(await settlements(), 403);
  t.true((await isShown(former)) && !(await isShown(hidden)));
  const list = await (await member.get('/console/payments')).text();
  t.true(list.includes('FORMER') && list.includes('library (library)') && !list.includes('HIDDEN'));
  await grant(['museum']);
  t.true(!(await isShown(former)) && (await isShown(hidden)));
  await grant(['library', 'museum']);
  t.true((await isShown(former)) && (await isShown(hidden)));
  const both = await (await member.get('/console/payments')).text();
  t.true(both.includes('FORMER') && both.includes('HIDDEN-1'));
  const home = await (await member.get('/console?day=2026-11-20')).text();
  t.regex(home, />1 delivered callback</);
  await grant(null);
  t.is(await settlements(), 200);
});

test.serial('what is about all merchants is refused, and no page leads there', async (t) => {
  const { app, db } = populated;
  const parked = [
    { stream: `payment-${foreign[0]}`, revision: 0, type: 'X', message: 'm', parkedAt: '2026-11-20' },
  ];
  await db.raw('update checkpoints set parked = ?', [JSON.stringify(parked)]);
  const exceptions = '/console/exceptions?state=all';
  t.regex(await (await (await signIn(app, 'admin')).get(exceptions)).text(), /exceptions\/shared\//);
  // One of its payments shares a number with another's.
  const theirs = await (await (await signIn(app, 'admin', ['museum'])).get(exceptions)).text();
  t.true(theirs.includes(`payment/${foreign[1]}/2`));
  t.false(theirs.includes('exceptions/shared/') || own.some((id) => theirs.includes(id)));
  for (const role of roles) {
    const member = await signIn(app, role, ['council']);
    const before = await app.eventStore.head();
    for (const { forScope, method, path } of app.consoleRoutes) {
      t.true(forScope !== 'ofPayment' || path.includes('/:id'), path);
      if (forScope !== 'all') continue;
      const answer = await member[method](path.replaceAll(/:\w+/g, own[0] ?? ''));
      t.is(answer.status, 403, `${role}: ${method} ${path}`);
    }
    t.deepEqual(await app.eventStore.head(), before);
    for (const odd of [
      foreign[0]?.toLowerCase(),
      `${foreign[0]}%20`,
      `${own[0]}%2F..%2F${foreign[0]}`,
      `${own[0]}/../${foreign[0]}`,
      `%30${foreign[0]?.slice(1)}`,
      `${own[0]},${foreign[0]}`,
      `${foreign[0]}?id=${own[0]}`,
    ])
      t.is((await member.get(`/console/payments/${odd}`)).status, 404, odd);
    const form = { id: own[0] ?? '', transactionId: own[0] ?? '', note: 'n' };
    t.is(
      (await member.post(`/console/payments/${foreign[0]}/notes?id=${own[0]}`, form)).status,
      role === 'viewer' ? 403 : 404,
    );
    // An admin has every link that the others have.
    if (role !== 'admin') continue;
    const seen = new Set(['/console?day=2026-11-20', '/console/journal/account?account=merchant:council']);
    for (const link of seen) {
      const answer = await member.get(link);
      t.true([200, 303].includes(answer.status), `${role}: ${link} answers ${answer.status}`);
      const html = answer.headers.get('content-type')?.includes('html') ? await answer.text() : '';
      t.false(html.includes(foreign[0] ?? ''), `${role}: ${link}`);
      for (const [, path = ''] of html.matchAll(/href="(\/console[^"]*)"/g))
        if (!/assets|sort=|after=/.test(path) && seen.size < 150) seen.add(path.replaceAll('&amp;', '&'));
    }
    t.true([...seen].some((link) => link.startsWith('/console/exceptions/payment/')) && seen.size > 60);
  }
});

test.serial(
  'an admin of all merchants grants scopes, by code or id; an admin with a scope grants none',
  async (t) => {
    const app = await startApp();
    t.teardown(() => app.close());
    const admin = await signIn(app, 'admin');
    const limited = await signIn(app, 'admin', ['council']);
    const { id } = await addUser(app.eventStore, 'viewer');
    const grant = `/console/staff/${id}/grant`;
    const last = async () => (await app.eventStore.loadLast(userStream(id)))?.data;
    t.is((await admin.post(grant, { merchants: ' 8, council council' })).status, 303);
    t.like(await last(), { merchants: ['council', 'museum'] });
    for (const merchants of [
      'nobody',
      'council, nobody',
      '',
      ' ',
      '*, council',
      'council*',
      'COUNCIL',
      '8.0',
      '__proto__',
    ]) {
      const answer = await admin.post(grant, { merchants });
      t.is(answer.status, 400, merchants);
      const page = await answer.text();
      t.regex(
        page,
        /<div id="refused">\s*<p class="notice warning" role="alert">[\s\S]*There is no merchant “/,
      );
      const field = `value="${merchants}" aria-label="Merchants of Staff, viewer" aria-invalid="true"`;
      t.is(page.split(field).length, 2, 'what was entered is kept, at the account');
      t.is(page.match(/aria-invalid/g)?.length, 1);
    }
    t.is((await admin.post(grant)).status, 400);
    const before = await app.eventStore.head();
    for (const path of [
      grant,
      `/console/staff/${limited.id}/grant`,
      `/console/staff/${id}/role`,
      `/console/staff/${id}/deactivate`,
    ])
      t.is((await limited.post(path, { merchants: '*', role: 'admin' })).status, 403, path);
    t.is((await admin.post(`/console/staff/${admin.id}/grant`, { merchants: 'council' })).status, 409);
    t.deepEqual(await app.eventStore.head(), before);
    t.is((await admin.post(grant, { merchants: '*' })).status, 303);
    t.deepEqual(Object.keys((await last()) as object), ['at']);
  },
);

test.serial('an open page tells nobody with a scope when others have payments', async (t) => {
  let commit = 0n;
  const projectionStatus = async () => {
    commit += 1n;
    return [{ position: { commit } }] as never;
  };
  const closing = new AbortController();
  // For whoever has a scope, lists change with the clock, which stands still here.
  const now = new Date();
  const changes = { content: { projectionStatus }, console: { closing: closing.signal } };
  const app = await startApp({ ...changes, clock: () => now });
  t.teardown(() => app.close());
  const id = '7'.padEnd(26, 'A');
  const commandId = randomUUID();
  const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
  const first = { type: 'PaymentRequested', data: request({ transactionId: id }) } as const;
  await app.eventStore.append(paymentStream(id), chain([first], genesisHash, cause), 'no_stream');
  const limited = await signIn(app, 'viewer', ['museum']);
  const council = await signIn(app, 'viewer', ['council']);
  const all = await signIn(app, 'viewer');
  const watch = (member: Member, query: string) => member.get(`/console/live?${query}`);
  t.is((await watch(limited, `of=${id}&seen=0`)).status, 404);
  t.is((await watch(limited, `of=${nobodys}&seen=0`)).status, 404);
  const [own, everybodys, ...others] = await Promise.all([
    watch(council, `of=${id}&seen=9`),
    watch(all, 'of='),
    watch(limited, 'of='),
    watch(limited, 'of=rebuilds'),
  ]);
  t.true(await isTold(own));
  t.true(await isTold(everybodys));
  closing.abort();
  for (const other of others) t.is(await other.text(), 'retry: 5000\n\n');
});

/** Reads until the page is told that something changed. */
async function isTold({ body }: Response): Promise<boolean> {
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes('data: changed')) return true;
  }
  return false;
}
