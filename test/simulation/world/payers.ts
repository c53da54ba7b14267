/** Merchants that request payments, and payers that pay them: each follows its plan and sees what the pages say. */
import en from '../../../content/texts/receipts.en.json' with { type: 'json' };
import ms from '../../../content/texts/receipts.ms.json' with { type: 'json' };
import type { AttemptPlan, PaymentPlan } from '../plan.ts';
import { landRegistryKey, merchants, removable } from '../program/configuration.ts';
import { askAsMerchant, registryMs, timed, type World } from './asking.ts';
import { type Answer, ask, formHeaders, formOf } from './http.ts';
import { payerEmail } from './subject-access.ts';

const banks = { fpx: 'MB2U0227', fpx1: 'MBB0228', cc: '', wallet: '' } as const;
const fromLand = { authorization: `Bearer ${landRegistryKey}` };

/** A payment as its merchant knows it. */
type Requested = { transactionId: string; payPath: string };

/**
 * A process that read the payment before the charge may show that state for 10 s (content/docs/decisions/0017-reads-from-rows.md), counted
 * from the end of that read, which may take some seconds. Not so a process that has recorded a result itself.
 */
const oldForMs = 15_000;

/** Plays one payment from the merchant's request to the last attempt. */
export async function playPayment(plan: PaymentPlan, world: World): Promise<void> {
  const { process, history } = world;
  const merchant = merchants[plan.merchant] ?? 'council';
  const reference = `REF-${plan.number}`;
  const isLand = merchant === 'land';
  const withdrawal = isLand ? undefined : plan.withdrawal;
  const expiresMs =
    withdrawal?.by === 'expiry' ? process.nowMs() + withdrawal.afterMs : Number.POSITIVE_INFINITY;
  const requests = plan.isRepeated ? 2 : 1;
  const answers = await Promise.all(
    Array.from({ length: requests }, () => requestPayment({ plan, merchant, reference, expiresMs }, world)),
  );
  const answered = answers.find((answer) => answer !== null);
  if (!answered) return;
  const { transactionId } = answered;
  history.tell(`merchant ${merchant}: requested ${reference} as ${transactionId}`);
  const cancelled =
    withdrawal?.by === 'merchant' ? cancel(transactionId, merchant, withdrawal.afterMs, world) : null;
  await Promise.all(
    plan.attempts.map(async (attempt) => {
      await process.runtime.sleep(attempt.afterMs);
      await playAttempt(answered, attempt, world);
    }),
  );
  await cancelled;
  if (!isLand) return;
  // What the registry says of it is recorded; there may be no record yet.
  const path = `/landreg/requery/${reference}`;
  const patient = { ...world, patienceMs: world.patienceMs + registryMs };
  await timed('GET /landreg/requery', patient, (host) => ask(process, { host, path, headers: fromLand }));
}

/** Cancels the payment; again after a while if an attempt is open, or if the program is away. */
async function cancel(transactionId: string, merchant: string, afterMs: number, world: World): Promise<void> {
  const { process, bank, history, report } = world;
  const path = `/generic/payments/${transactionId}/cancel`;
  await process.runtime.sleep(afterMs);
  for (let number = 0; number < 8; number += 1) {
    const answer = await askAsMerchant('POST /generic/payments', { merchant, path, method: 'POST' }, world);
    history.tell(`merchant ${merchant}: cancels ${transactionId}: ${answer?.status ?? 'no answer'}`);
    if (answer?.status === 202) return void bank.withdrawn.add(transactionId);
    if (answer?.status === 404 && bank.knownPayments.has(transactionId))
      report('false-not-found', transactionId, 'The cancellation was answered 404');
    if (answer && answer.status < 500 && ![401, 404, 409].includes(answer.status))
      report('program-fault', transactionId, `The cancellation was answered ${answer.status}`);
    await process.runtime.sleep(2_000 * 2 ** number);
  }
}

async function requestPayment(
  {
    plan,
    merchant,
    reference,
    expiresMs,
  }: { plan: PaymentPlan; merchant: string; reference: string; expiresMs: number },
  world: World,
): Promise<Requested | null> {
  const { process, bank, report } = world;
  const isLand = merchant === 'land';
  const path = isLand ? '/landreg/request' : '/generic/request';
  const body = JSON.stringify(
    isLand
      ? landRequest(plan, reference)
      : {
          trans_id: reference,
          amount: (plan.amountSen / 100).toFixed(2),
          service: 'Assessment tax',
          description: `Bill ${plan.number}`,
          callback_url: `http://${merchant}.example/callback`,
          redirect_url: `http://${merchant}.example/paid`,
          name: 'A Payer',
          email: plan.hasEmail ? payerEmail : '',
          ...(Number.isFinite(expiresMs) && { expires_at: new Date(expiresMs).toISOString() }),
        },
  );
  for (let number = 0; number < 30; number += 1) {
    const askedMs = process.nowMs();
    const answer = await askAsMerchant(`POST ${path}`, { merchant, path, method: 'POST', body }, world);
    if (answer?.status === 200) {
      const removedMs = merchant === removable ? world.lacksMerchantSinceMs(answer.host) : null;
      if (removedMs !== null && removedMs < askedMs && !world.troubled.has(answer.host))
        report('revoked-opens', reference, `${answer.host} took it of a merchant that was removed`);
      const { transaction_id: id, payment_url: url } = JSON.parse(answer.body).data;
      world.links.keep(url);
      const { pathname, search } = new URL(url);
      if (plan.hasEmail && !isLand) bank.withEmail.add(id);
      const ids = bank.acknowledge(merchant, reference, id);
      if (ids > 1) report('two-payments', reference, `${merchant} got ${ids} transaction ids`);
      return { transactionId: id, payPath: pathname + search };
    }
    // Nothing was recorded before the time at which it would have expired, by the clock of PostgreSQL.
    if (answer?.status === 400 && process.nowMs() > expiresMs - 1_000 - world.databaseAheadMs) return null;
    if (answer && answer.status < 500 && (isLand || answer.status !== 401))
      report(
        'program-fault',
        reference,
        `A request was answered ${answer.status}: ${answer.body.slice(0, 200)}`,
      );
    await process.runtime.sleep(2_000 + number * 3_000);
  }
  return null;
}

/** Of up to three items. */
function landRequest({ amountSen, number }: PaymentPlan, reference: string) {
  const parts = 1 + (number % 3);
  const partSen = Math.floor(amountSen / parts);
  const ringgitOf = (sen: number) => (sen / 100).toFixed(2);
  const items = Array.from({ length: parts }, (_, index) => ({
    id_hakmilik: `GM ${number}-${index}`,
    urusan: 'Cukai tanah',
    jumlah_bayaran: ringgitOf(index === 0 ? amountSen - partSen * (parts - 1) : partSen),
  }));
  return {
    kod_cawangan: '00',
    transaksi_id: reference,
    jumlah_bayaran: ringgitOf(amountSen),
    return_url: 'http://land.example/paid',
    maklumat_bayaran: items,
    extra: { name: 'A Payer', account_no: `A${number}` },
  };
}

async function playAttempt(
  { transactionId, payPath }: Requested,
  plan: AttemptPlan,
  world: World,
): Promise<void> {
  const { process, gateway, history } = world;
  const { bank } = world;
  const sinceMs = world.chargedSinceMs(transactionId);
  const askedMs = process.nowMs();
  const page = await look(payPath, transactionId, world);
  if (page?.status !== 200) return;
  const token = inputOf(page.body, 'token');
  if (!token) return;
  const recordedMs = bank.recordedAtMs.get(`${page.host} ${transactionId}`) ?? askedMs;
  const mustShow =
    sinceMs !== null && (askedMs - sinceMs > oldForMs || isWithin(sinceMs, recordedMs, askedMs));
  if (mustShow && !saysAsAt(page.body))
    world.report('page-denies-charge', transactionId, 'The pay page asks for another payment');
  await process.runtime.sleep(plan.hesitatesMs ?? 0);
  const choice = { token, again: '1', method: plan.mode, [`bank_${plan.mode}`]: banks[plan.mode] };
  const answer = await look(payPath, transactionId, world, formOf(choice));
  if (answer?.status !== 200 || !answer.body.includes('CHECKSUM')) return;
  const form = fieldsOf(answer.body);
  const [, channel = ''] = payPath.split('/');
  history.tell(
    `payer: goes to the bank with ${form.MERCHANT_ORDER_NO} by ${plan.mode}, and will be ${plan.outcome}`,
  );
  await gateway.handOver(form, plan, () => {
    process.after(500, () => void look(`/${channel}/receipt/${transactionId}`, transactionId, world));
  });
}

/** A page as a payer gets it, with a few reloads when it does not come. Redirects are answers. */
async function look(
  path: string,
  transactionId: string,
  world: World,
  form?: string,
): Promise<Answer | null> {
  const { process, bank, links, report } = world;
  for (let number = 0; number < 4; number += 1) {
    const answer = await timed(`${form ? 'POST' : 'GET'} ${path.split('/', 3).join('/')}`, world, (host) =>
      ask(process, {
        host,
        path,
        headers: path.startsWith('/landreg/receipt') ? fromLand : {},
        ...(form !== undefined && { method: 'POST', headers: formHeaders, body: form }),
      }),
    );
    if (answer?.status === 404 && bank.knownPayments.has(transactionId))
      report('false-not-found', transactionId, `${path} was answered 404`);
    if (answer?.status === 401) links.refused(path.split('?', 1).join());
    if (answer && answer.status < 500) return answer;
    await process.runtime.sleep(3_000 * (number + 1));
  }
  return null;
}

/** The event store cannot be read, and the page says as at when the payment stood so. What is chosen there is refused. */
const saysAsAt = (page: string) =>
  [en, ms].some(({ receipt }) => page.includes(receipt.asAt.split('{time}')[0] ?? receipt.asAt));

const isWithin = (fromMs: number, atMs: number, beforeMs: number) => fromMs <= atMs && atMs < beforeMs;

const inputOf = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

function fieldsOf(html: string): Record<string, string> {
  const found = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries(Array.from(found, ([, name = '', value = '']) => [name, unescaped(value)]));
}

const unescaped = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<');
