// What both peers have in common: the two calls of a payment's life, and a callback that is tried once.
import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import Koa from 'koa';

const secret = 'a-secret-of-this-benchmark-alone-long-enough';

/** `request(fields)` resolves to the payment's id; `succeed(id, result)` to the payment when it is recorded. */
export function serve({ request, succeed }) {
  const app = new Koa();
  app.use(async (ctx) => {
    let text = '';
    for await (const chunk of ctx.req.setEncoding('utf8')) text += chunk;
    const body = JSON.parse(text);
    if (ctx.path === '/generic/request') {
      if (ctx.get('authorization') !== `Bearer ${secret}`) ctx.throw(401);
      if (!/^\d+\.\d\d$/.test(body.amount) || !body.trans_id || !URL.canParse(body.callback_url))
        ctx.throw(400);
      ctx.body = { data: { transaction_id: await request(body) } };
    } else {
      if (!body.CHECKSUM) ctx.throw(400);
      createHash('sha256')
        .update(secret + text)
        .digest('hex'); // the work of a checksum
      const payment = await succeed(body.TRANS_ID, body);
      ctx.body = 'OK';
      void callBack(payment).catch(() => {}); // lost if this process ends
    }
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
    process.send({ port: server.address().port });
  });
  process.once('disconnect', () => process.exit());
  process.once('SIGTERM', () => process.exit());
}

async function callBack({ id, reference, amount, callbackUrl }) {
  const body = JSON.stringify({ transaction_id: id, trans_id: reference, amount, status: 'succeeded' });
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  const headers = { 'content-type': 'application/json', 'webhook-signature': `v1,${signature}` };
  await (await fetch(callbackUrl, { method: 'POST', headers, body })).arrayBuffer();
}
