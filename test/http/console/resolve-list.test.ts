// Exceptions of one kind resolved together: what is offered, what is confirmed, what is refused, and what is recorded.
import { randomUUID } from 'node:crypto';
import { type EventStore, EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import test from 'ava';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import {
  type DiscrepancyFound,
  type ReconciliationEvent,
  reconciliationFold,
  reconciliationStream,
} from '../../../src/events/reconciliation.ts';
import { resolutionStream, unmatchedFold, unmatchedIdOf } from '../../../src/events/unmatched.ts';
import { openBrowser, seriousFaults, skippedWithoutBrowser } from '../../e2e/browser/chromium.ts';
import { idOf } from '../../reconciliation/helpers.ts';
import { startApp } from '../../support/app.ts';
import { checkChain } from '../../support/chain.ts';
import { memberOf, signIn } from '../../support/console.ts';
import { sen } from '../../support/payments.ts';
import { createDatabase } from '../../support/postgres.ts';
import { quarantined } from '../../support/quarantine.ts';
import { postResult, resultFields, signed } from '../generic/helpers.ts';
import { type Populated, paidTwice, startPopulated } from './populated.ts';

const postgres = await createDatabase();

const page = '/console/exceptions/resolve';
const differences = `${page}?kind=difference`;
const explained = { resolution: 'explained', note: 'The export of 20 November was of the wrong month' };
const wrongFile = 'a'.repeat(64);

function found(serial: number, over: Partial<DiscrepancyFound>): ReconciliationEvent {
  const at = new Date(Date.parse('2026-11-20T01:00:00.000Z') + serial * 1_000).toISOString();
  const data: DiscrepancyFound = {
    at,
    kind: 'missingHere',
    source: 'gateway',
    transactionId: idOf(serial),
    recordId: `P${serial}`,
    gatewayTransactionId: `P${serial}`,
    resultNo: null,
    merchantCode: 'council',
    paidAt: null,
    ours: null,
    theirs: { status: 'succeeded', amountSen: sen(12_050), currency: '' },
    file: { sha256: wrongFile, line: serial },
    asOf: at,
    ...over,
  };
  return { type: 'ReconciliationDifferenceFound', data };
}

/** Discrepancies with these numbers; each is a second younger than the one before. */
async function addDiscrepancies(
  { app }: Pick<Populated, 'app'>,
  serials: readonly number[],
  over: Partial<DiscrepancyFound> = {},
): Promise<void> {
  await Promise.all(
    serials.map((serial) => {
      const commandId = randomUUID();
      const cause = { commandId, correlationId: commandId, causationId: commandId, actor: 'staff:importer' };
      const events = chain([found(serial, over)], genesisHash, cause);
      return app.eventStore.append(reconciliationStream(idOf(serial)), events, 'no_stream');
    }),
  );
}

/** How each discrepancy was resolved: its note, `vanished`, or null while it is open. */
const notesOf = async ({ eventStore }: { eventStore: EventStore }, serials: readonly number[]) =>
  Promise.all(
    serials.map(async (serial) => {
      const stored = await eventStore.load(reconciliationStream(idOf(serial)));
      const state = stored.map(reconciliationFold.read).reduce(reconciliationFold.evolve, null);
      return state?.resolved ? state.resolved.note : null;
    }),
  );

test.serial('a list of discrepancies is resolved once its number was confirmed', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp } = populated;
  await addDiscrepancies(populated, [1, 2]);
  await addDiscrepancies(populated, [3], { file: { sha256: 'b'.repeat(64), line: 1 } });
  await addDiscrepancies(populated, [4], {
    transactionId: `\0"sha256":"${wrongFile}"`,
    file: { sha256: 'c'.repeat(64), line: 1 },
  });
  await addDiscrepancies(populated, [5], { merchantCode: 'museum' });
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const text = async (path: string) => (await admin.get(path)).text();
  const own = await text(`/console/exceptions/difference/${idOf(1)}`);
  const [, ofFile = ''] = /href="(\/console\/exceptions\?kind=difference[^"]+)"/.exec(own) ?? [];
  const list = await text(`${ofFile.replace('&amp;', '&')}&merchant=council`);
  t.true(list.includes('2 in all') && list.includes(`name="file" value="${wrongFile}"`));
  const [, link = ''] = /href="(\/console\/exceptions\/resolve[^"]+)"/.exec(list) ?? [];
  const path = link.replaceAll('&amp;', '&');
  t.deepEqual(Object.fromEntries(new URL(path, app.url).searchParams), {
    state: 'open',
    kind: 'difference',
    merchant: 'council',
    file: wrongFile,
  });

  const form = await text(path);
  t.true(form.includes('<strong>2</strong> are open') && form.includes('name="count" value="2"'));
  t.true(form.includes('value="explained"') && !form.includes('value="settled"'));
  const before = await app.eventStore.head();
  for (const fields of [
    { count: '2', resolution: 'explained', note: ' ' },
    { count: '2', resolution: 'settled', note: 'n' },
    { count: '2', note: 'n' },
  ])
    t.is((await admin.post(path, fields)).status, 400, JSON.stringify(fields));
  const asked = await (
    await admin.post(path, { ...explained, count: '2', atOnce: '2', confirmed: '' })
  ).text();
  t.true(asked.includes('2 exceptions will be resolved') && asked.includes('Nothing is posted'));
  t.true(asked.includes(`action="${link}"`) && asked.includes(explained.note));
  t.deepEqual(await app.eventStore.head(), before, 'nothing yet');

  await addDiscrepancies(populated, [6]);
  await caughtUp();
  for (const fields of [explained, { ...explained, count: '2' }, { ...explained, count: '4' }]) {
    const changed = await admin.post(path, fields);
    t.is(changed.status, 409);
    const again = await changed.text();
    t.true(again.includes('The list has changed') && again.includes('name="count" value="3"'));
    t.true(again.includes(explained.note), 'what was typed is kept');
  }
  t.deepEqual(await notesOf(app, [1, 2, 6]), [null, null, null]);

  const done = await admin.post(path, { ...explained, count: '3' });
  t.is(done.status, 200);
  const answer = await done.text();
  t.true(answer.includes('<strong>3</strong> are resolved') && !answer.includes('Resolve the other'));
  const { note } = explained;
  t.deepEqual(await notesOf(app, [1, 2, 3, 4, 5, 6]), [note, note, null, null, null, note]);
  const stored = await app.eventStore.load(reconciliationStream(idOf(2)));
  checkChain(t, stored);
  t.is(Reflect.get(stored[1]?.metadata ?? {}, 'actor'), `staff:${admin.id}`);
  const history = await text(`/console/exceptions/difference/${idOf(2)}`);
  t.true(history.includes(note) && history.includes('Staff, admin'));

  await caughtUp();
  const empty = await text(path);
  t.true(empty.includes('Nothing is open') && !empty.includes('name="resolution"'));
  t.is((await admin.post(path, { ...explained, count: '3' })).status, 409, 'the form sent again');
});

test.serial('of more than 1,000 the oldest are resolved, and the page says how many are left', async (t) => {
  t.timeout(300_000);
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp } = populated;
  const serials = Array.from({ length: 1_002 }, (_, index) => index + 1);
  await addDiscrepancies(populated, serials.toReversed());
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const form = await (await admin.get(differences)).text();
  t.true(form.includes('<strong>1,002</strong> are open'));
  t.true(form.includes('At most 1,000 are resolved at a time, the oldest first; 2 will be left.'));
  const asked = await admin.post(differences, { ...explained, count: '1002', atOnce: '1000', confirmed: '' });
  t.true((await asked.text()).includes('1,000 exceptions will be resolved'));
  const done = await (await admin.post(differences, { ...explained, count: '1002' })).text();
  t.true(done.includes('<strong>1,000</strong> are resolved') && done.includes('Resolve the other 2 …'));
  const { note } = explained;
  t.deepEqual(await notesOf(app, [1, 999, 1_000, 1_001, 1_002]), [note, note, note, null, null]);
  await caughtUp();
  const rest = await (await admin.get(differences)).text();
  t.true(rest.includes('<strong>2</strong> are open') && !rest.includes('At most'));
});

test.serial('a refusal does not keep the others from being resolved, and its reason is shown', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, db } = populated;
  await addDiscrepancies(populated, [1, 2, 3, 4]);
  await caughtUp();
  const [admin, other] = [await signIn(app, 'admin'), await signIn(app, 'admin')];
  // The rows of what is resolved, or cannot be read, as a projection that is behind leaves them.
  await other.post(`/console/exceptions/difference/${idOf(2)}`, { ...explained, note: 'Another' });
  const newer = { id: randomUUID(), type: 'DifferenceForgiven', data: {}, metadata: { schemaVersion: 9 } };
  await app.eventStore.append(reconciliationStream(idOf(3)), [newer], 0);
  await caughtUp();
  await db('reconciliation.discrepancies').update({ resolution: null, resolved_at: null });
  const answer = await admin.post(differences, { ...explained, count: '4' });
  const html = await answer.text();
  t.true(
    html.includes('<strong>2</strong> are resolved') && html.includes('<strong>2</strong> could not'),
    html,
  );
  t.true(html.includes('This discrepancy is already resolved') && html.includes('Its events cannot be read'));
  const { note } = explained;
  t.deepEqual(await notesOf(app, [1, 2, 4]), [note, 'Another', note]);
});

test.serial('two tabs and a double click resolve each once', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp } = populated;
  const serials = [1, 2, 3, 4, 5];
  await addDiscrepancies(populated, serials);
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const send = () => admin.post(differences, { ...explained, count: '5' });
  const answers = await Promise.all([send(), send()]);
  for (const answer of answers)
    if (answer.status === 200) t.regex(await answer.text(), /<strong>[1-5]<\/strong> (is|are) resolved/);
    else t.is(answer.status, 409);
  t.true(answers.some(({ status }) => status === 200));
  for (const serial of serials) {
    const stored = await app.eventStore.load(reconciliationStream(idOf(serial)));
    t.is(stored.length, 2);
    checkChain(t, stored);
  }
});

test.serial('an interruption leaves the resolved ones resolved and the rest open', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, db } = populated;
  await addDiscrepancies(populated, [1, 2, 3]);
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const append: EventStore['append'] = async (stream, ...rest) => {
    if (stream === reconciliationStream(idOf(2))) throw new EventStoreUnavailable('stopped');
    return await app.eventStore.append(stream, ...rest);
  };
  const failing = await startApp({ eventStore: { append }, console: { db } }, app);
  t.teardown(failing.close);
  const sent = await memberOf(failing.url, admin.id, admin.cookie).post(differences, {
    ...explained,
    count: '3',
  });
  t.is(sent.status, 503);
  const { note } = explained;
  t.deepEqual(await notesOf(app, [1, 2, 3]), [note, null, null]);
  await caughtUp();
  t.is((await admin.post(differences, { ...explained, count: '2' })).status, 200);
  t.deepEqual(await notesOf(app, [1, 2, 3]), [note, note, note]);
});

test.serial('a row without a stream is left out and told, and the others are resolved', async (t) => {
  const populated = await startPopulated(t, postgres);
  const { app, caughtUp, db } = populated;
  await addDiscrepancies(populated, [1, 2, 3]);
  await caughtUp();
  await db('reconciliation.discrepancies')
    .where({ id: idOf(2) })
    .update({ id: '0'.repeat(26) });
  const admin = await signIn(app, 'admin');
  const done = await admin.post(differences, { ...explained, count: '3' });
  t.is(done.status, 200);
  const answer = await done.text();
  t.true(answer.includes('<strong>2</strong> are resolved'));
  t.true(answer.includes('<strong>1</strong> could not be resolved:'));
  t.true(answer.includes('There is no such discrepancy'));
  const { note } = explained;
  t.deepEqual(await notesOf(app, [1, 2, 3]), [note, null, note]);
});

test.serial('unmatched results are settled or explained together; the results stay', async (t) => {
  const { app, caughtUp } = await startPopulated(t, postgres);
  for (const id of ['0', '1', '2']) await postResult(app, signed(resultFields(id.repeat(26))));
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const path = `${page}?kind=unmatched`;
  const form = await (await admin.get(path)).text();
  t.true(form.includes('value="settled"') && form.includes('value="explained"'));
  t.false(form.includes('value="refunded"'), 'money went back for each by itself');
  t.is((await admin.post(path, { resolution: 'refunded', note: 'n', count: '3' })).status, 400);
  const settled = { resolution: 'settled', note: 'Paid again after the incident' };
  t.is((await admin.post(path, { ...settled, count: '3' })).status, 200);
  const kept = await quarantined(app.eventStore);
  t.is(kept.length, 3);
  for (const event of kept) {
    const [said, ...more] = await app.eventStore.load(resolutionStream(unmatchedIdOf(event)));
    t.is(more.length, 0);
    t.like(said && unmatchedFold.read(said).data, { ...settled, revision: event.revision });
    t.is(Reflect.get(said?.metadata ?? {}, 'actor'), `staff:${admin.id}`);
  }
});

test.serial('nothing with money in the books, and nobody who may not resolve one', async (t) => {
  const populated = await startPopulated(t, postgres, { config: { approvalAboveSen: sen(0) } });
  const { app, caughtUp, payment } = populated;
  const id = await payment(paidTwice);
  await addDiscrepancies(populated, [1]);
  await postResult(app, signed(resultFields('0'.repeat(26))));
  await caughtUp();
  const admin = await signIn(app, 'admin');
  const refused = [
    'duplicate',
    'amountMismatch',
    'approval',
    'outcomeUnknown',
    'parked',
    'contradiction',
    '',
  ];
  const queries = [
    ...refused.map((kind) => `?kind=${kind}`),
    '',
    '?kind=difference&state=all',
    '?kind=unmatched&state=resolved',
  ];
  for (const query of queries) {
    t.is((await admin.get(`${page}${query}`)).status, 400, query);
    t.is((await admin.post(`${page}${query}`, { ...explained, count: '1' })).status, 400, query);
    t.false((await (await admin.get(`/console/exceptions${query}`)).text()).includes(page), query);
  }
  // Fields of the form do not choose another list.
  const smuggled = { ...explained, kind: 'duplicate', state: 'all', count: '2' };
  t.is((await admin.post(differences, smuggled)).status, 409);
  t.is((await admin.post(differences, { ...explained, count: '1', token: 'x' })).status, 403);
  t.is(
    (await admin.post(differences, { ...explained, count: '1' }, { origin: 'https://elsewhere.example' }))
      .status,
    403,
  );

  const scoped = await signIn(app, 'admin', ['council']);
  const others = [await signIn(app, 'member'), await signIn(app, 'viewer'), scoped];
  for (const other of others)
    for (const kind of ['difference', 'unmatched']) {
      t.is((await other.get(`${page}?kind=${kind}`)).status, 403);
      t.is((await other.post(`${page}?kind=${kind}`, { ...explained, count: '1' })).status, 403);
      t.false((await (await other.get(`/console/exceptions?kind=${kind}`)).text()).includes(page));
    }
  t.is((await app.events(id)).length, 4);
  t.deepEqual(await notesOf(app, [1]), [null]);
});

test.serial(
  'in a browser: from the list to the resolved ones, on a phone, with and without scripts',
  async (t) => {
    if (skippedWithoutBrowser(t)) return;
    t.timeout(300_000);
    const populated = await startPopulated(t, postgres);
    const { app, caughtUp } = populated;
    await addDiscrepancies(populated, [1, 2]);
    await addDiscrepancies(populated, [3, 4], { merchantCode: 'museum' });
    await caughtUp();
    const admin = await signIn(app, 'admin');
    const [name = '', value = ''] = admin.cookie.split('=');
    for (const { merchant, scripts } of [
      { merchant: 'council', scripts: true },
      { merchant: 'museum', scripts: false },
    ]) {
      const { complaints, context, page } = await openBrowser(t, {
        viewport: { width: 360, height: 780 },
        javaScriptEnabled: scripts,
      });
      await context.addCookies([{ name, value, url: app.url }]);
      const isWell = async (what: string) => {
        if (!scripts) return;
        t.deepEqual(await seriousFaults(page), [], what);
        t.is(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, what);
      };
      await page.goto(`${app.url}/console/exceptions?kind=difference`);
      await page.getByLabel('Merchant’s code').fill(merchant);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByRole('link', { name: 'Resolve these together …' }).click();
      await page.getByText('2 are open.').waitFor();
      await isWell('the form');
      await page.getByLabel('Note for auditors').fill(`Of the wrong month, ${merchant}`);
      await page.getByRole('button', { name: 'Resolve' }).click();
      await page.getByText('2 exceptions will be resolved.').waitFor();
      await isWell('the question');
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByText('2 are open.').waitFor();
      await page.getByLabel('Note for auditors').fill(`Of the wrong month, ${merchant}`);
      await page.getByRole('button', { name: 'Resolve' }).click();
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByText('2 are resolved.').waitFor();
      await isWell('the answer');
      await caughtUp();
      await page.getByRole('link', { name: 'Back to the list' }).click();
      await page.getByText('Nothing is open.').waitFor();
      t.is(new URL(page.url()).searchParams.get('merchant'), merchant);
      t.deepEqual(complaints, []);
    }
    const notes = ['council', 'council', 'museum', 'museum'].map((each) => `Of the wrong month, ${each}`);
    t.deepEqual(await notesOf(app, [1, 2, 3, 4]), notes);
  },
);
