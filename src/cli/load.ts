/**
 * `ledger load`: fills a development ledger with payments, over HTTP, as a merchant, payers and the gateway would make
 * them. Nine in ten are paid; the others fail, are cancelled, stay open or need staff.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError, StoreAway } from '@ledger/embedded/start-error.ts';
import { orElse } from '@ledger/kernel/or-else.ts';
import { mapInPortions } from '@ledger/kernel/pages.ts';
import samples from '../../content/samples/load.json' with { type: 'json' };
import { signFields } from '../clients/gateway/checksum.ts';
import { toDateTime } from '../common/malaysian-time.ts';
import { formatSen, type Sen } from '../common/money.ts';
import { loadRoleConfig } from '../roles/stores.ts';
import { type CommandOf, UsageError } from './command.ts';
import { fail } from './stores.ts';

const mostPayments = 100_000;
const atATime = 8;
const firstAnswerWithinMs = 3_000;
const answerWithinMs = 30_000;

const uses = ['BASE_URL', 'GATEWAY_SECRET', 'GATEWAY_URL', 'HOST', 'PAYMENT_METHODS_FILE', 'PORT'] as const;

/**
 * The gateway's results of a payment, with their status: `0` failed, `1` paid, `2` cancelled, `3` pending. Another
 * amount than asked for, and two charges, are left to staff.
 */
const outcomes: readonly { perHundred: number; results: readonly { status: string; moreSen?: number }[] }[] =
  samples.outcomes;
const { services } = samples;

export const command: CommandOf<'load'> = async ({ key = 'demo-key', merchant = 'demo-app', payments }) => {
  const count = Number(payments);
  if (!(Number.isInteger(count) && count > 0 && count <= mostPayments))
    throw new UsageError(`--payments must be a number from 1 to ${mostPayments}`);
  const { baseUrl, gateway, methods, production } = loadRoleConfig({ uses });
  if (production) return fail('This is for development: no payment is made up in production.');
  const [method] = methods.keys();
  if (method === undefined) return fail('The ledger offers no payment method.');

  await call(baseUrl, { method: 'GET', signal: AbortSignal.timeout(firstAnswerWithinMs) });

  async function makePayment(number: number): Promise<void> {
    const amountSen = randomInt(1_000, 50_000);
    const service = services[randomInt(services.length)] ?? '';
    const asked = await call(`${baseUrl}/generic/request`, {
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({
        merchant_code: merchant,
        trans_id: `LOAD-${randomUUID()}`,
        amount: formatSen(amountSen as Sen),
        service,
        description: `${service} ${number}`,
        name: `Payer ${number}`,
        email: `payer-${number}@example.my`,
        callback_url: `${gateway.url}/merchant/callback`,
        redirect_url: `${gateway.url}/merchant`,
      }),
    });
    const { data } = Object(orElse(() => JSON.parse(asked), null));
    if (!data?.payment_url) throw new StartError(`What answers at ${baseUrl} is not a ledger.`);
    const { transaction_id: id, payment_url: page } = data;
    const order = await chooseMethod(page, method ?? '');
    for (const [index, { status, moreSen = 0 }] of resultsOf(number).entries()) {
      const fields = {
        STATUS: status,
        PAYMENT_MODE: method ?? '',
        MERCHANT_CODE: merchant,
        TRANS_ID: id,
        RECEIPT_NO: '',
        PAYMENT_TRANS_ID: `LOAD${id}${index}`,
        PAYMENT_DATETIME: toDateTime(new Date().toISOString()),
        AMOUNT: formatSen((amountSen + moreSen) as Sen),
        BUYER_BANK: 'Bank',
        BUYER_NAME: `PAYER ${number}`,
        MERCHANT_ORDER_NO: order,
      };
      const signed = { ...fields, CHECKSUM: signFields(fields, gateway.secret) };
      await call(`${baseUrl}/generic/response`, { body: new URLSearchParams(signed) });
    }
  }

  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  await mapInPortions(numbers, atATime, makePayment);
  const text = `${count} payments were made for ${merchant}: see ${baseUrl}/console/payments.`;
  return { data: { payments: count }, text };
};

/** Resolves to the body of the answer. A caller who is asked to wait does so. Throws StoreAway and StartError. */
async function call(url: string, request: RequestInit): Promise<string> {
  while (true) {
    const signal = AbortSignal.timeout(answerWithinMs);
    const answer = await fetch(url, { method: 'POST', redirect: 'manual', signal, ...request }).catch(
      () => null,
    );
    if (!answer) throw new StoreAway(`No ledger answers at ${url}; PORT names another port.`);
    const body = await answer.text();
    if (answer.status < 400) return body;
    const waitSeconds = Number(answer.headers.get('retry-after'));
    if (answer.status !== 429) throw new StartError(`${url} answers ${answer.status}: ${body.slice(0, 300)}`);
    await sleep(Math.max(1, waitSeconds) * 1_000);
  }
}

/** Does what the form of the payment page does; resolves to the number of the order at the gateway. */
async function chooseMethod(page: string, method: string): Promise<string> {
  const shown = await call(page, { method: 'GET' });
  const fieldIn = (html: string, name: string) =>
    new RegExp(`name="${name}"[^>]* value="([^"]+)"`).exec(html)?.[1] ?? '';
  const bank = /<select [^>]*name="(bank_\w+)".*?<option value="([^"]+)"/s.exec(shown);
  const [, bankField, bankCode = ''] = bank ?? [];
  // `bank_down` confirms a bank that is marked as not available; for any other bank it means nothing.
  const atBank = bankField !== undefined && { [bankField]: bankCode, bank_down: bankCode };
  const chosen = { token: fieldIn(shown, 'token'), method, ...atBank };
  return fieldIn(await call(page, { body: new URLSearchParams(chosen) }), 'MERCHANT_ORDER_NO');
}

/** The results of a payment by its number: of every hundred as many as `outcomes` says, well mixed. */
function resultsOf(number: number) {
  let left = (number * 37) % 100;
  for (const { perHundred, results } of outcomes) {
    if (left < perHundred) return results;
    left -= perHundred;
  }
  return [];
}
