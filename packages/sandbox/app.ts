/** The HTTP side of the gateway: accepts hand-overs, shows the bank's page, and takes the payer's decision. */
import { randomBytes } from 'node:crypto';
import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import koaBody from 'koa-body';
import type { Logger } from 'pino';
import { enums, is, object, optional, record, string } from 'superstruct';
import { type Fields, hasRightChecksum, signedText } from './checksum.ts';
import { addSettlement } from './exports.ts';
import { readHandOver } from './hand-over.ts';
import { addLandRegistry } from './land-registry.ts';
import { addMailbox } from './mailbox.ts';
import { addMerchant } from './merchant.ts';
import { type Order, type Orders, shortOrderNo } from './orders.ts';
import { outcomes, outcomesFor } from './outcomes.ts';
import { contentSecurityPolicy, page, seeOther } from './pages.ts';
import type { Registrations } from './registrations.ts';
import { addRegistry } from './registry.ts';
import { resultFields } from './result-fields.ts';
import type { createServerPosts } from './server-posts.ts';

type Dependencies = {
  orders: Orders;
  serverPosts: ReturnType<typeof createServerPosts>;
  secret: string;
  registryToken: string;
  webhookSecrets: readonly string[];
  registrations: Registrations;
  outboxDir: string;
  log: Logger;
};

const Decision = object({
  outcome: enums(outcomes),
  delivery: optional(enums(['both', 'browser', 'server', 'none'])),
  delaySeconds: optional(enums(['0', '5', '30'])),
});

// Names stay as they were sent: brackets and dots are part of the signed text, not structure.
const form = koaBody({
  multipart: false,
  json: false,
  text: false,
  formLimit: '64kb',
  queryString: { depth: 0, allowDots: false, parseArrays: false, plainObjects: true },
  // An unreadable body (a broken gzip, for example) is the sender's fault unless the error says otherwise.
  onError: (error, ctx) => ctx.throw(400, error),
});

export function createApp(dependencies: Dependencies): Koa {
  const router = new Router();
  router.get('/', (ctx) => {
    ctx.body = page('orders', { orders: dependencies.orders.recent(50) });
  });
  router.post('/', form, (ctx) => takeHandOver(ctx, dependencies));
  router.get('/orders/:orderNo', (ctx) => showOrder(ctx, dependencies));
  router.post('/orders/:orderNo', form, (ctx) => takeDecision(ctx, dependencies));
  router.get('/orders/:orderNo/return', (ctx) => sendPayerBack(ctx, dependencies));
  addMailbox(router, dependencies.outboxDir);
  addMerchant(router, dependencies.webhookSecrets);
  const { orders, registrations, registryToken: token } = dependencies;
  addRegistry(router, { orders, token });
  addSettlement(router, dependencies);
  addLandRegistry(router, { registrations, token });

  const app = new Koa();
  app.use((ctx, next) => answerErrors(ctx, next, dependencies.log));
  app.use(guard);
  app.use(router.routes());
  app.use(router.allowedMethods());
  app.on('error', (err: unknown) => dependencies.log.warn({ err }, 'sandbox connection failed'));
  return app;
}

function takeHandOver(ctx: Context, { orders, secret, log }: Dependencies): void {
  const fields = fieldsOf(ctx);
  if (!hasRightChecksum(fields, secret)) {
    ctx.throw(403, 'The checksum is wrong', {
      hint: 'CHECKSUM is missing, or was not computed with the secret that this gateway and your system share. Nothing was stored and nobody was charged.',
      signedText: signedText(fields),
    });
  }
  const received = readHandOver(fields);
  if ('wrong' in received) {
    ctx.throw(400, 'This order cannot be accepted', {
      hint: `The checksum is right, but these fields are missing or not valid: ${received.wrong.join(', ')}.`,
    });
  }
  const { handOver, transaksiId } = received;
  if (orders.add(handOver) === 'different') {
    ctx.throw(409, 'This order number is taken', {
      hint: `Order ${handOver.orderNo} was handed over before with different content. Use a new MERCHANT_ORDER_NO for every attempt.`,
    });
  }
  if (transaksiId !== '') orders.nameTransaction(handOver.transId, transaksiId);
  log.info({ orderNo: shortOrderNo(handOver.orderNo) }, 'sandbox order taken');
  seeOther(ctx, `/orders/${handOver.orderNo}`);
}

function showOrder(ctx: RouterContext, { orders }: Dependencies): void {
  const order = knownOrder(ctx, orders);
  const posts = orders.posts(order.orderNo);
  ctx.body = page('order', {
    order,
    outcomes: outcomesFor(order.state),
    results: orders
      .results(order.orderNo)
      .map((result) => ({ ...result, posts: posts.filter((post) => post.resultId === result.id) })),
    canReturn: orders.browserResult(order.orderNo) !== undefined,
  });
}

function takeDecision(ctx: RouterContext, { orders, serverPosts, log }: Dependencies): void {
  const order = knownOrder(ctx, orders);
  const decision = fieldsOf(ctx);
  if (!is(decision, Decision)) ctx.throw(400, 'No such decision');
  // A second authoriser decides at the bank, long after the payer's browser has returned.
  const delivery = order.state === 'pending' ? 'server' : (decision.delivery ?? 'both');
  const delayMs = Number(decision.delaySeconds ?? 0) * 1_000;
  if (orders.decide(order.orderNo, decision.outcome, delivery, delayMs)) {
    const orderNo = shortOrderNo(order.orderNo);
    log.info({ orderNo, outcome: decision.outcome, delivery }, 'sandbox order decided');
    serverPosts.start(order);
  }
  // A second click leads to the same page as the first.
  const canReturn = orders.browserResult(order.orderNo) !== undefined;
  seeOther(ctx, `/orders/${order.orderNo}${canReturn ? '/return' : ''}`);
}

function sendPayerBack(ctx: RouterContext, { orders, secret }: Dependencies): void {
  const order = knownOrder(ctx, orders);
  const result = orders.browserResult(order.orderNo);
  if (!result) {
    seeOther(ctx, `/orders/${order.orderNo}`);
    return;
  }
  const nonce = randomBytes(16).toString('base64');
  ctx.set('Content-Security-Policy', `${contentSecurityPolicy}; script-src 'nonce-${nonce}'`);
  ctx.body = page('return', { order, result, fields: resultFields(order, result, secret), nonce });
}

function knownOrder(ctx: RouterContext, orders: Orders): Order {
  return orders.find(ctx.params.orderNo ?? '') ?? ctx.throw(404, 'There is no such order here');
}

/** The posted form. Answers 400 if a name occurs twice. */
function fieldsOf(ctx: Context): Fields {
  const body: unknown = ctx.request.body;
  if (body === undefined) ctx.throw(415, 'Send a form (application/x-www-form-urlencoded)');
  if (!is(body, record(string(), string()))) ctx.throw(400, 'A field was sent twice');
  return body;
}

/** Sets the headers of every response, and answers loopback names only, so that DNS rebinding does not work. */
function guard(ctx: Context, next: Next): Promise<unknown> {
  ctx.set({
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': contentSecurityPolicy,
  });
  if (!['localhost', '127.0.0.1', '::1', '[::1]'].includes(ctx.hostname))
    ctx.throw(421, 'The sandbox answers on localhost only');
  return next();
}

async function answerErrors(ctx: Context, next: Next, log: Logger): Promise<void> {
  try {
    await next();
    if (ctx.status >= 400 && ctx.body == null) ctx.throw(ctx.status);
  } catch (error) {
    const shown = forErrorPage(error);
    if (shown.status >= 500) log.error({ err: error, route: ctx._matchedRoute }, 'sandbox request failed');
    ctx.status = shown.status;
    ctx.body = page('error', shown);
  }
}

/** The content of the error page. Only the message of a client error is shown; a 500 reveals nothing. */
function forErrorPage(error: unknown): { status: number; message: string; hint: string; signedText: string } {
  const unknown = { status: 500, message: 'The sandbox failed', hint: '', signedText: '' };
  if (!(error instanceof Error && 'status' in error && typeof error.status === 'number')) return unknown;
  return error.status < 500
    ? { ...unknown, ...error, message: error.message, status: error.status }
    : unknown;
}
