/** A console with something of every kind, and the addresses of its pages. */
import { projectionStatus } from '@ledger/projections/runtime/checkpoints.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { recordVerified } from '../../../src/audit/background-check/schedule.ts';
import { chain, genesisHash } from '../../../src/events/envelope.ts';
import type { PaymentEvent } from '../../../src/events/payment.ts';
import { countIn, emptyTally, sealsStream, signedText } from '../../../src/events/seals.ts';
import { streamPrefixes } from '../../../src/events/streams.ts';
import { type Account, userStream } from '../../../src/events/user.ts';
import { loadAccount } from '../../../src/http/console/frame/session.ts';
import { journal } from '../../../src/projections/journal/projection.ts';
import { payments } from '../../../src/projections/payments/projection.ts';
import { users } from '../../../src/projections/users/projection.ts';
import { cause } from '../../audit/ledger.ts';
import type { Postgres } from '../../projections/helpers.ts';
import { gatewayCsv } from '../../reconciliation/helpers.ts';
import { addUser, changeUser, type Member, signIn } from '../../support/console.ts';
import { applied, chosen, contradicted, mismatched, result, sen, succeeded } from '../../support/payments.ts';
import { onlyUnmatchedPath } from '../../support/quarantine.ts';
import type { Owner } from '../../support/whole-file.ts';
import { postResult, resultFields, signed } from '../generic/helpers.ts';
import { abandoned, type Populated, paidTwice, startPopulated } from './populated.ts';

/** Sends a page's form with a file, as a browser does. */
export async function upload(
  { app }: Populated,
  member: Member,
  path: string,
  csv: string,
  fields: Record<string, string> = {},
): Promise<Response> {
  const html = await (await member.get(path)).text();
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const form = new FormData();
  for (const [name, value] of Object.entries({ token, ...fields })) form.set(name, value);
  form.set('file', new File([csv], 'export.csv'));
  const headers = { cookie: member.cookie, origin: app.url, accept: 'text/html' };
  return fetch(`${app.url}${path}`, { method: 'POST', headers, body: form, redirect: 'manual' });
}

const settled: readonly PaymentEvent[] = [
  chosen(1, { chargeSen: sen(50) }),
  succeeded(result(1, 'succeeded', { mode: 'fpx' })),
  abandoned,
  {
    type: 'RequeryAnswered',
    data: { at: '2026-11-20T03:00:00.000Z', status: 'succeeded', evidence: { plain: {} } },
  },
];

async function seal({ app }: Populated, userId: string): Promise<void> {
  const key = sealKeyOf('5ea1'.repeat(16));
  const [event] = await app.eventStore.load(userStream(userId));
  if (!event) throw new Error('no user');
  const said = {
    at: '2026-11-20T01:00:00.000Z',
    position: { commit: '1', prepare: '1' },
    count: 1,
    runningHash: countIn(emptyTally, event).runningHash,
    lastEvent: { stream: event.streamName, revision: event.revision, id: event.id },
    streams: [...streamPrefixes],
    previousSeal: genesisHash,
    publicKey: key.publicKey,
  };
  const sealed = { type: 'LogSealed', data: { ...said, signature: key.sign(signedText(said)) } };
  await app.eventStore.append(sealsStream, chain([sealed], genesisHash, cause()), 'no_stream');
}

/** `pages` has the addresses by the path of their route, without those of downloads. */
export async function startEverything(t: Owner, postgres: Postgres) {
  const listed: Account[] = [];
  const populated: Populated = await startPopulated(t, postgres, {
    config: { approvalAboveSen: sen(5_000) },
    content: {
      users: { list: async () => listed, has: async () => true, find: async () => null },
      projections: [payments, journal, users],
      projectionStatus: () => projectionStatus(populated.db),
    },
  });
  const { app, caughtUp, db, payment } = populated;
  const admin = await signIn(app, 'admin');
  const paid = await payment(settled);
  const twice = await payment(paidTwice);
  const wrong = await payment([
    chosen(1),
    mismatched(result(1, 'succeeded', { amountSen: sen(12_000) })),
    contradicted(result(1, 'failed'), 'cancelled'),
  ]);
  const open = await payment([chosen(1), applied(result(1, 'failed')), chosen(2)]);
  const attempted = '5'.padStart(26, '0');
  await payment([
    chosen(1, { sellerOrderNo: `${attempted}-1` }),
    { type: 'RequeryUnanswered', data: { at: '2026-11-21T01:00:00.000Z', reason: 'no_answer' } },
    { type: 'AttemptOutcomeUnknown', data: { at: '2026-11-21T02:00:00.000Z', orderNo: `${attempted}-1` } },
  ]);
  const known = '6'.padStart(26, '0');
  const late = { sellerOrderNo: `${known}-1` };
  await payment([
    chosen(1, late),
    { type: 'AttemptOutcomeUnknown', data: { at: '2026-11-20T01:02:00.000Z', orderNo: `${known}-1` } },
    succeeded(result(1, 'succeeded', late)),
  ]);
  for (const receiptNo of ['S-1', 'S-2'])
    await payment(
      [chosen(1), succeeded(result(1, 'succeeded', { gatewayTransactionId: 'P77' }), { receiptNo })],
      {
        sharesNumbers: true,
      },
    );
  await postResult(app, signed(resultFields('0'.repeat(26))));
  await seal(populated, admin.id);
  await recordVerified(db, new Date(), {
    checked: [{ what: 'streams, each without gaps', count: 1_200 }],
    notes: [
      '7 events are not sealed yet: only their chains protect them.',
      `2 events say that they were recorded more than an hour before events that had been sealed before them, the first of them user-${admin.id} revision 0: a clock was wrong, or somebody appended them with an earlier time.`,
    ],
    violations: [{ kind: 'rows of payments.payments', first: 'a row differs', count: 2 }],
  });
  const idle = await addUser(app.eventStore, 'viewer', 'Former staff');
  await changeUser(app.eventStore, idle.id, { type: 'DeactivateUser' });
  const others = [idle, await addUser(app.eventStore, 'member'), await addUser(app.eventStore, 'viewer')];
  for (const { id } of [admin, ...others]) {
    const account = await loadAccount(app.eventStore, id);
    if (account) listed.push(account);
  }
  await caughtUp();

  const credit = { resolution: 'credited', note: 'N-1' };
  await admin.post(`/console/exceptions/payment/${wrong}/1`, credit);
  await admin.post(`/console/payments/${paid}/notes`, { note: 'N-2' });
  const csv = gatewayCsv([
    { TRANS_ID: paid, PAYMENT_TRANS_ID: 'P1', AMOUNT: '99.00' },
    { TRANS_ID: 'OTHER', PAYMENT_TRANS_ID: 'P2', AMOUNT: 'x' },
  ]);
  await upload(populated, admin, '/console/reconciliation', csv, { from: '', to: '' });
  const recorded = await upload(
    populated,
    admin,
    '/console/settlements',
    `REFERENCE,SETTLED_ON,TOTAL,TRANS_ID,PAYMENT_MODE,AMOUNT,FEE\nPO-1,2026-11-20,120.50,${paid},,121.00,0.50\n`,
  );
  const settlement = new URL(recorded.headers.get('location') ?? '', app.url).pathname;
  // An import would stop at it.
  const parked = await payment([{ type: 'PaymentForgiven', data: {} } as unknown as PaymentEvent]);
  await caughtUp();

  const linked = async (path: string, pattern: RegExp) =>
    pattern.exec(await (await admin.get(path)).text())?.[0] ?? `no link on ${path}`;
  const exceptions = '/console/exceptions';
  const unmatched = `${exceptions}/${await onlyUnmatchedPath(app.eventStore)}`;
  const one = `/console/payments/${paid}`;
  const pages: Readonly<Record<string, readonly string[]>> = {
    '/console': ['/console', '/console?day=2026-11-20'],
    '/console/payments': ['/console/payments', '/console/payments?q=INV', '/console/payments?q=ZZZ'],
    '/console/payments/:id': [paid, twice, wrong, open, attempted, parked].map(
      (id) => `/console/payments/${id}`,
    ),
    '/console/payments/:id/payer': [`${one}/payer`],
    '/console/payments/:id/events/:revision': [`${one}/events/1`],
    '/console/payments/:id/refund': [`${one}/refund`, `/console/payments/${open}/refund`],
    '/console/payments/:id/erase': [`${one}/erase`],
    '/console/exceptions': [exceptions, `${exceptions}?state=resolved`],
    '/console/exceptions/resolve': [
      `${exceptions}/resolve?kind=unmatched`,
      `${exceptions}/resolve?kind=difference&merchant=council`,
    ],
    '/console/exceptions/payment/:id/:no': [
      `${exceptions}/payment/${twice}/2`,
      `${exceptions}/payment/${wrong}/1`,
      `${exceptions}/payment/${wrong}/2`,
    ],
    '/console/exceptions/attempt/:id/:no': [
      `${exceptions}/attempt/${attempted}/1`,
      `${exceptions}/attempt/${known}/1`,
    ],
    '/console/exceptions/approval/:id/:no': [`${exceptions}/approval/${wrong}/1`],
    '/console/exceptions/unmatched/:id': [unmatched],
    '/console/exceptions/unmatched/:id/evidence': [`${unmatched}/evidence`],
    '/console/exceptions/unmatched/:id/erase': [`${unmatched}/erase`],
    '/console/exceptions/shared/:id': [await linked(exceptions, /\/console\/exceptions\/shared\/\w+/)],
    '/console/exceptions/difference/:id': [
      await linked('/console/reconciliation', /\/console\/exceptions\/difference\/\w+/),
    ],
    '/console/exceptions/parked/:stream': [`${exceptions}/parked/payment-${parked}`],
    '/console/reconciliation': ['/console/reconciliation'],
    '/console/deliveries': ['/console/deliveries', '/console/deliveries?state=abandoned'],
    '/console/deliveries/send-again': ['/console/deliveries/send-again?state=abandoned'],
    '/console/journal': ['/console/journal'],
    '/console/journal/account': [
      '/console/journal/account?account=gateway%3Afpx&from=2026-11-01&to=2026-11-30',
      '/console/journal/account?account=suspense%3Aduplicate&from=2026-11-01&to=2026-11-30',
    ],
    '/console/settlements': ['/console/settlements'],
    '/console/settlements/:id': [settlement],
    '/console/statements': ['/console/statements', '/console/statements?merchant=council&day=2026-11-20'],
    '/console/projections': ['/console/projections'],
    '/console/access-log': ['/console/access-log'],
    '/console/export': ['/console/export'],
    '/console/staff': ['/console/staff'],
    '/console/own-account': ['/console/own-account'],
  };
  return { ...populated, admin, pages, ids: { paid, twice, wrong, open } };
}
