/** /generic/simulate: calls POST /generic/request over HTTP, as a merchant's server would, and shows the answer. */
import { orElse } from '@ledger/kernel/or-else.ts';
import { shellQuoted } from '@ledger/openapi/samples.ts';
import form from '../../../content/samples/request-form.json' with { type: 'json' };
import { otherLanguage } from '../../common/languages.ts';
import { toDigits } from '../../common/malaysian-time.ts';
import type { PaymentChannel } from '../pay/channel.ts';
import type { Texts } from '../pay/texts.ts';
import { bodyText } from '../server/body.ts';
import { type Context, HttpProblem, languageOf } from '../server/context.ts';

/** The fields of the form, as the interface document calls them, with what they are filled in with. */
const { required, optional } = form;

type Values = Readonly<typeof required & typeof optional>;

const timeoutMs = 15_000;

/** GET: the form, filled in with a payment that has not been requested yet. */
export const showRequestForm = (ctx: Context, channel: PaymentChannel): Promise<void> =>
  ctx.render('simulate.njk', formPage(ctx, example(channel), channel));

/** POST: shows the call, and makes it unless the user only wants to see it. */
export async function makeRequest(ctx: Context, channel: PaymentChannel): Promise<void> {
  const { config } = channel;
  const names = Object.keys({ ...required, ...optional });
  const values = Object.fromEntries(names.map((name) => [name, bodyText(ctx, name)])) as Values;
  const show = (outcome: object) =>
    ctx.render('simulate.njk', { ...formPage(ctx, values, channel), ...outcome });

  const send = bodyText(ctx, 'send');
  const call = callOf(values, send === 'page' ? 'text/html' : 'application/json');
  if ('error' in call) return show(call);
  const curl = curlOf(`${config.baseUrl}/generic/request`, call);
  if (send === 'nothing') return show({ curl });

  const answer = await make(ctx, call, channel);
  if (answer.status === 200 && answer.type.startsWith('text/html')) {
    // The page is the one that a merchant relays to its payer.
    ctx.type = 'html';
    ctx.body = answer.body;
    return;
  }
  await show({ curl, answer: shownAnswer(answer, config.baseUrl) });
}

type Answer = { status: number; type: string; body: string };
type Fault = { error: keyof Texts['simulate']['errors'] };
type Call = { headers: Readonly<Record<string, string>>; body: string };

/** The call that the form describes, or why the form describes none; the API itself checks the fields. */
function callOf(values: Values, accept: string): Call | Fault {
  const { api_key: apiKey, extra: extraText, ...texts } = values;
  const hasExtra = extraText.trim() !== '';
  if (!/^[\x21-\x7e]*$/.test(apiKey)) return { error: 'apiKey' };
  const extra = parseObject(hasExtra ? extraText : '{}');
  if (!extra) return { error: 'extra' };
  const given = Object.entries(texts).filter(([, value]) => value !== '');
  return {
    headers: {
      ...(apiKey !== '' && { Authorization: `Bearer ${apiKey}` }),
      'Content-Type': 'application/json',
      Accept: accept,
    },
    body: JSON.stringify({ ...Object.fromEntries(given), ...(hasExtra && { extra }) }),
  };
}

function parseObject(text: string): object | null {
  const value: unknown = orElse(() => JSON.parse(text), null);
  return typeof value === 'object' && !Array.isArray(value) ? value : null;
}

/** Calls the address at which this request arrived, which needs no name service, proxy or certificate. */
async function make(
  ctx: Context,
  { headers, body }: Call,
  { fetchOwn, runtime }: PaymentChannel,
): Promise<Answer> {
  const { localAddress = '', localPort } = ctx.req.socket;
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  const passedOn = { 'X-Forwarded-For': ctx.get('X-Forwarded-For'), 'X-Request-Id': ctx.state.requestId };
  try {
    const response = await fetchOwn(`http://${host}:${localPort}/generic/request`, {
      method: 'POST',
      headers: { ...headers, ...passedOn, 'Accept-Language': languageOf(ctx) },
      body,
      redirect: 'manual',
      signal: runtime.timeout(timeoutMs),
    });
    const type = response.headers.get('Content-Type') ?? '';
    return { status: response.status, type, body: await response.text() };
  } catch {
    throw new HttpProblem(503, 'The request got no answer in time');
  }
}

function curlOf(url: string, { headers, body }: Call): string {
  const options = Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
  return [`curl -i ${shellQuoted(url)}`, ...options, `--data-raw ${shellQuoted(body)}`].join(' \\\n  ');
}

function shownAnswer({ status, type, body }: Answer, baseUrl: string) {
  const json = type.startsWith('application/json') ? parseObject(body) : null;
  const data: unknown = json && Reflect.get(json, 'data');
  const url: unknown = typeof data === 'object' && data !== null && Reflect.get(data, 'payment_url');
  return {
    status,
    ok: status < 400,
    body: json ? JSON.stringify(json, null, 2) : body,
    paymentUrl: typeof url === 'string' && url.startsWith(`${baseUrl}/`) ? url : undefined,
  };
}

function formPage(ctx: Context, values: Values, { config }: PaymentChannel) {
  const lang = languageOf(ctx);
  const pageUrl = `${config.baseUrl}/generic/simulate`;
  const inputs = (fields: object) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in fields));
  return {
    lang,
    otherLanguageUrl: `${pageUrl}?lang=${otherLanguage(lang)}`,
    action: `${pageUrl}?lang=${lang}`,
    debugUrl: `${config.baseUrl}/generic/debug?lang=${lang}`,
    required: inputs(required),
    optional: inputs(optional),
  };
}

/** The only key that is ever filled in is the public one of the development merchant. */
function example({ config, runtime }: PaymentChannel): Values {
  const isDemo = config.merchants.get('demo-app')?.apiKeys.includes('demo-key') ?? false;
  return {
    ...required,
    ...optional,
    ...(isDemo && { merchant_code: 'demo-app', api_key: 'demo-key' }),
    trans_id: `TRY-${toDigits(runtime.now().toISOString())}`,
    callback_url: `${config.gateway.url}/merchant/callback`,
    redirect_url: `${config.gateway.url}/merchant`,
  };
}
