/** POST /console/payments/{id}/requery: asks the registry for the status of a payment, and records it. */
import { askRegistry } from '../../server/ask-registry.ts';
import { loadRequested } from '../../server/load-history.ts';
import { leadTo, type Page, staffCause } from '../frame/page.ts';
import { paymentsPath } from './search.ts';

export const requery: Page = async (ctx, { eventStore, recordAnswer, registry, runtime }) => {
  const { head, payment } = await loadRequested(ctx, eventStore);
  const { request } = payment;
  const { channel, transactionId } = request;
  const given = () => ({ at: runtime.now().toISOString(), cause: staffCause(ctx), from: head });
  const answer = await askRegistry(
    () => (channel === 'landreg' ? registry.askByTransaksiId(request) : registry.ask(transactionId)),
    (fault) => recordAnswer(request, { fault }, given()),
  );
  const { events } = await recordAnswer(request, answer, given());
  const hasNews = events.some(({ data }) => 'result' in data);
  const otherwise = answer.status === 'not_found' ? 'requery-not-found' : 'requery-no-news';
  leadTo(ctx, `${paymentsPath}/${transactionId}`, hasNews ? 'requery-news' : otherwise);
};
