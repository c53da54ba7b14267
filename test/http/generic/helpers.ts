/** A merchant, a payer and a gateway that call the app over HTTP. */
import { randomUUID } from 'node:crypto';
import { signFields } from '../../../src/clients/gateway/checksum.ts';
import { createExecute } from '../../../src/commands/execute.ts';
import { type PaymentCommand, paymentDecider } from '../../../src/commands/payment.ts';
import { paymentStream } from '../../../src/events/payment.ts';
import { apiKey, gatewaySecret, type TestApp } from '../../support/app.ts';
import { personalData } from '../../support/personal-data.ts';

let references = 0;

export function requestBody(over: Record<string, unknown> = {}): Record<string, unknown> {
  references += 1;
  return {
    trans_id: `INV-${references}`,
    amount: '120.50',
    service: 'Assessment tax',
    description: 'Second half of 2026',
    callback_url: 'https://council.example/callback',
    redirect_url: 'https://council.example/paid?session=1',
    name: 'Aminah binti Ismail',
    email: 'aminah@example.my',
    ic_no: '900101145678',
    ...over,
  };
}

export const merchantHeaders = {
  authorization: `Bearer ${apiKey}`,
  'x-merchant-code': 'council',
  'content-type': 'application/json',
};

export function postRequest(
  app: TestApp,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${app.url}/generic/request`, {
    method: 'POST',
    headers: { ...merchantHeaders, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Asks for a payment and answers its transaction id. */
export async function createPayment(app: TestApp, over: Record<string, unknown> = {}): Promise<string> {
  const response = await postRequest(app, requestBody(over), { accept: 'application/json' });
  const answer = (await response.json()) as { data: { transaction_id: string } };
  return answer.data.transaction_id;
}

/** What the gateway says of the first attempt; sign it with `signed`. */
export function resultFields(
  transactionId: string,
  over: Record<string, string> = {},
): Record<string, string> {
  return {
    STATUS: '1',
    PAYMENT_MODE: 'fpx',
    MERCHANT_CODE: 'council',
    TRANS_ID: transactionId,
    RECEIPT_NO: 'R-1',
    PAYMENT_TRANS_ID: 'P-1',
    PAYMENT_DATETIME: '2026-11-20 09:04:30',
    AMOUNT: '120.50',
    BUYER_BANK: 'Maybank2U',
    BUYER_NAME: 'AMINAH BINTI ISMAIL',
    MERCHANT_ORDER_NO: `${transactionId}-1`,
    ...over,
  };
}

export function signed(fields: Record<string, string>, secret = gatewaySecret): Record<string, string> {
  return { ...fields, CHECKSUM: signFields(fields, secret) };
}

export type Body = NonNullable<RequestInit['body']>;

export function postResult(
  app: TestApp,
  body: Body | Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const isFields = Object.getPrototypeOf(body) === Object.prototype;
  return fetch(`${app.url}/generic/response`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: isFields ? new URLSearchParams(body as Record<string, string>) : (body as Body),
  });
}

export const tokenOf = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';

/** What the payer's browser sends from the payment page. */
export async function chooseMethod(
  app: TestApp,
  transactionId: string,
  form: Record<string, string>,
  lang: 'en' | 'ms' = 'en',
): Promise<Response> {
  const url = `${app.url}/generic/pay/${transactionId}?lang=${lang}`;
  const token = form.token ?? tokenOf(await (await fetch(url)).text());
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...form, token }),
  });
}

/** The values of a page's hidden fields, by name. */
export function hiddenFields(html: string): Record<string, string> {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  const plain = (text = '') => text.replace(/&(\w+|#39);/g, (_, name) => entities[name] ?? '');
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries(Array.from(inputs, ([, name, value]) => [plain(name), plain(value)]));
}

/** What staff or reactors do to a payment, without the console and the reactors. */
export async function carryOut(app: TestApp, id: string, command: PaymentCommand): Promise<void> {
  const { eventStore } = app;
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const cause = { commandId: randomUUID(), correlationId: 'test', causationId: 'test', actor: 'staff:1' };
  await execute(paymentStream(id), command, cause);
}

/** The addresses of a payment's pages, and the methods that were chosen for it. */
export const pagesOf = (app: Pick<TestApp, 'url' | 'events'>) => ({
  payUrl: (id: string) => `${app.url}/generic/pay/${id}`,
  receiptUrl: (id: string) => `${app.url}/generic/receipt/${id}`,
  chosen: async (id: string) =>
    (await app.events(id)).flatMap((event) => (event.type === 'PaymentMethodChosen' ? [event.data] : [])),
});
