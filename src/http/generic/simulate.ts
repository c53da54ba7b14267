/**
 * /generic/simulate: builds a call of POST /generic/request and makes it as a merchant's server would, over HTTP to
 * this very server, so that what is seen is what a merchant would see.
 */
import { toDigits } from '../../kernel/malaysian-time.ts';
import type { PayDependencies } from '../pay/dependencies.ts';
import { otherLanguage } from '../pay/links.ts';
import { type Context, languageOf } from '../server/context.ts';
import { HttpProblem } from '../server/errors.ts';
import type { SimulatePage } from './models.ts';

type SimulateDependencies = {
  config: Pick<PayDependencies['config'], 'baseUrl' | 'gateway' | 'merchants'>;
  clock: () => Date;
};

/** The fields of the form, as the interface document calls them. */
const required = [
  'merchant_code',
  'api_key',
  'trans_id',
  'amount',
  'service',
  'description',
  'callback_url',
  'redirect_url',
] as const;
const optional = [
  'name',
  'email',
  'ic_no',
  'phone_no',
  'address_1',
  'address_2',
  'city',
  'postcode',
  'state',
  'extra',
] as const;

type Values = Readonly<Record<(typeof required)[number] | (typeof optional)[number], string>>;

const timeoutMs = 15_000;

/** GET: the form, filled in with a payment that nobody asked for yet. */
export function createShowSimulate(dependencies: SimulateDependencies) {
  return (ctx: Context): Promise<void> => {
    const values = example(dependencies);
    return ctx.render('simulate.njk', simulatePage(ctx, values, dependencies));
  };
}

/** POST: shows the call, and makes it unless only the call was asked for. */
export function createSimulate(dependencies: SimulateDependencies) {
  const { config } = dependencies;
  return async (ctx: Context): Promise<void> => {
    const values = formOf(ctx.request.body);
    const show = (outcome: Partial<SimulatePage>) =>
      ctx.render('simulate.njk', { ...simulatePage(ctx, values, dependencies), ...outcome });

    const call = callOf(values, sendOf(ctx.request.body) === 'page' ? 'text/html' : 'application/json');
    if ('error' in call) return show(call);
    const curl = curlOf(`${config.baseUrl}/generic/request`, call);
    if (sendOf(ctx.request.body) === 'nothing') return show({ curl });

    const answer = await make(ctx, call);
    if (answer.status === 200 && answer.type.startsWith('text/html')) {
      // As a merchant relays it to its payer.
      ctx.type = 'html';
      ctx.body = answer.body;
      return;
    }
    await show({ curl, answer: shownAnswer(answer, config.baseUrl) });
  };
}

type Answer = { status: number; type: string; body: string };
type Call = { headers: Readonly<Record<string, string>>; body: string };

/** The call that the form describes, or what is wrong with the form itself; the rest is for the API to say. */
function callOf(values: Values, accept: string): Call | Required<Pick<SimulatePage, 'error'>> {
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
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** To the address that this request came in at: it needs no name service, proxy or certificate to reach itself. */
async function make(ctx: Context, { headers, body }: Call): Promise<Answer> {
  const { localAddress = '', localPort } = ctx.req.socket;
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
  try {
    const response = await fetch(`http://${host}:${localPort}/generic/request`, {
      method: 'POST',
      headers: { ...headers, 'Accept-Language': languageOf(ctx), 'X-Request-Id': ctx.state.requestId },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
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

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function shownAnswer({ status, type, body }: Answer, baseUrl: string): SimulatePage['answer'] {
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

function simulatePage(ctx: Context, values: Values, { config }: SimulateDependencies): SimulatePage {
  const lang = languageOf(ctx);
  const pageUrl = `${config.baseUrl}/generic/simulate`;
  const inputs = (names: readonly (keyof Values)[]) => names.map((name) => ({ name, value: values[name] }));
  return {
    lang,
    otherLanguageUrl: `${pageUrl}?lang=${otherLanguage(lang)}`,
    action: `${pageUrl}?lang=${lang}`,
    debugUrl: `${config.baseUrl}/generic/debug?lang=${lang}`,
    required: inputs(required),
    optional: inputs(optional),
  };
}

/** Of keys, only the one that everybody knows is ever filled in. */
function example({ config, clock }: SimulateDependencies): Values {
  const isDemo = config.merchants.get('demo-app')?.apiKeys.includes('demo-key') ?? false;
  return {
    ...formOf({}),
    merchant_code: isDemo ? 'demo-app' : '',
    api_key: isDemo ? 'demo-key' : '',
    trans_id: `TRY-${toDigits(clock().toISOString())}`,
    amount: '25.00',
    service: 'Licences',
    description: 'Dog licence',
    callback_url: `${config.gateway.url}/merchant/callback`,
    redirect_url: `${config.gateway.url}/merchant`,
    name: 'Aminah binti Ismail',
    extra: '{"account_no": "A-1"}',
  };
}

function formOf(body: unknown): Values {
  const names = [...required, ...optional];
  return Object.fromEntries(names.map((name) => [name, textOf(body, name)])) as Values;
}

function sendOf(body: unknown): 'json' | 'page' | 'nothing' {
  return (['page', 'nothing'] as const).find((it) => it === textOf(body, 'send')) ?? 'json';
}

function textOf(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : '';
}
