/** A merchant for development: it receives callbacks, and payers return to its page after paying. */
import type Router from '@koa/router';
import koaBody from 'koa-body';
import { page } from './pages.ts';

type Callback = { receivedAtMs: number; webhookId: string; fields: readonly (readonly [string, string])[] };

/** How many callbacks are kept, in memory only: the payment's history has the facts. */
const kept = 50;

const body = koaBody({ multipart: false, text: false, jsonLimit: '64kb', formLimit: '64kb' });

/** Adds `/merchant` and `/merchant/callback`. */
export function addMerchant(router: Router): void {
  const callbacks: Callback[] = [];
  router.post('/merchant/callback', body, (ctx) => {
    const sent: unknown = ctx.request.body;
    const fields = Object.entries(typeof sent === 'object' && sent !== null ? sent : {});
    callbacks.unshift({
      receivedAtMs: Date.now(),
      webhookId: ctx.get('webhook-id'),
      fields: fields.map(([name, value]) => [name, String(value)] as const),
    });
    callbacks.length = Math.min(callbacks.length, kept);
    ctx.status = 204;
  });
  router.get('/merchant', (ctx) => {
    const back = Object.entries(ctx.query).map(([name, value]) => [name, String(value)] as const);
    ctx.body = page('merchant', { back, callbacks });
  });
}
