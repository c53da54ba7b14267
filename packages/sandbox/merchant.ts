/** A merchant for development: it receives callbacks and checks them, and payers return to its page after paying. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { enums, is, object } from 'superstruct';
import { page, seeOther, smallForm } from './pages.ts';
import { verdictOn, type Webhook } from './webhook.ts';

type Callback = Webhook & {
  receivedAtMs: number;
  /** Whether it is genuine, or why it is not. */
  verdict: string;
  answer: string;
  fields: readonly (readonly [string, string])[];
};

/** How many callbacks are kept, in memory only: the payment's history has the facts. */
const kept = 50;
const maxBytes = 64 * 1024;

/** What it answers, by the value of the form; null: nothing, ever. */
const answers = { take: 204, refuse: 500, gone: 410, hang: null } as const;
type Answer = keyof typeof answers;

const Settings = object({ answer: enums(Object.keys(answers) as Answer[]) });

/** Adds `/merchant` and `/merchant/callback`. A callback is genuine if it is signed with one of the secrets. */
export function addMerchant(router: Router, secrets: readonly string[]): void {
  const callbacks: Callback[] = [];
  let chosen: Answer = 'take';
  router.post('/merchant/callback', async (ctx) => {
    const body = await readBody(ctx);
    const webhook: Webhook = {
      id: ctx.get('webhook-id'),
      timestamp: ctx.get('webhook-timestamp'),
      signatures: ctx.get('webhook-signature'),
      body,
    };
    const verdict = verdictOn(webhook, secrets, Date.now());
    // A real merchant would refuse whatever is not genuine; this one shows it.
    const status = answers[chosen];
    const answer = status === null ? 'nothing' : String(status);
    callbacks.unshift({ ...webhook, receivedAtMs: Date.now(), verdict, answer, fields: fieldsOf(ctx, body) });
    callbacks.length = Math.min(callbacks.length, kept);
    if (status === null) ctx.respond = false;
    else ctx.status = status;
  });
  router.get('/merchant', (ctx) => {
    const back = Object.entries(ctx.query).map(([name, value]) => [name, String(value)] as const);
    ctx.body = page('merchant', { back, callbacks, chosen });
  });
  router.post('/merchant', smallForm, (ctx) => {
    const settings: unknown = ctx.request.body;
    if (!is(settings, Settings)) return ctx.throw(400, 'There is no such answer');
    chosen = settings.answer;
    seeOther(ctx, '/merchant');
  });
}

/** The body as it was received, which is what was signed. */
async function readBody(ctx: Context): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) ctx.throw(413, 'The body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The fields of a form or of a JSON object; none if it is neither. */
function fieldsOf(ctx: Context, body: string): [string, string][] {
  if (ctx.is('urlencoded')) return [...new URLSearchParams(body)];
  try {
    const sent: unknown = JSON.parse(body);
    const entries = Object.entries(typeof sent === 'object' && sent !== null ? sent : {});
    return entries.map(([name, value]) => [name, String(value)]);
  } catch {
    return [];
  }
}
