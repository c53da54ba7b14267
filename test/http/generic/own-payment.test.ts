// A payment whose events somebody has changed in the event store is neither shown to its merchant nor acted on.
import test from 'ava';
import { startApp } from '../../support/app.ts';
import { createPayment, merchantHeaders } from './helpers.ts';

test('a payment whose history is not whole is 500, and cannot be cancelled', async (t) => {
  const app = await startApp();
  t.teardown(() => app.close());
  const id = await createPayment(app);
  const load: typeof app.eventStore.load = async (...given) =>
    (await app.eventStore.load(...given)).map((event) => ({
      ...event,
      data: { ...(event.data as object), amountSen: 1 },
    }));
  const changed = await startApp({ eventStore: { load } }, app);
  t.teardown(() => changed.close());
  const url = `${changed.url}/generic/payments/${id}`;
  for (const answer of [
    await fetch(url, { headers: merchantHeaders }),
    await fetch(`${url}/cancel`, { method: 'POST', headers: merchantHeaders }),
  ]) {
    t.is(answer.status, 500);
    t.regex(await answer.text(), /What was recorded of this cannot be read/);
  }
  t.is((await app.events(id)).length, 1);
});
