// Renders a page as the program does: Koa, koa-views, our templates, over HTTP.
import Koa from 'koa';
import { texts } from '../../../src/http/pay/texts.ts';
import { createViews } from '../../../src/http/server/views.ts';

/** One for all pages, as in the program: what it keeps between two pages is under test too. */
const views = createViews({ t: texts }, {});

/** The response to a request whose endpoint renders `model` with the template `name`. */
export const request = async (name: string, model: object) => {
  const app = new Koa();
  app.silent = true;
  app.use(views);
  app.use((ctx) => ctx.render(name, model));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const response = await fetch(`http://127.0.0.1:${address.port}/`, { headers: { connection: 'close' } });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      html: await response.text(),
    };
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
};

export const render = async (name: string, model: object) => (await request(name, model)).html;
