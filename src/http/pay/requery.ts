/** GET /<channel>/requery/{transaksi_id}: asks the transaction registry for the status of a payment, and records it. */
import { EventStoreUnavailable } from '@ledger/event-store/event-store.ts';
import texts from '../../../content/texts/requery.en.json' with { type: 'json' };
import { toIsoWithOffset } from '../../common/malaysian-time.ts';
import { type OpenPayment, openPayment } from '../../events/open-payment.ts';
import type { PaymentEvent } from '../../events/payment.ts';
import type { RegistryAnswer } from '../../events/payment-result.ts';
import { adjustmentFields, type PaymentFields, paymentFields } from '../../receipts/payment-fields.ts';
import { askRegistry } from '../server/ask-registry.ts';
import { type Context, causeOf, HttpProblem } from '../server/context.ts';
import type { PaymentChannel } from './channel.ts';
import type { LoadedPayment } from './load-payment.ts';

/** At a time, by this process: half of the connections to the registry, whose answers may take seconds. */
const mostOfOneCaller = 50;

/** `id` is the transaction id that the request's reference leads to. Throws HttpProblem 429. */
export async function requery(
  ctx: Context,
  channel: PaymentChannel,
  id: string,
  ask: (request: OpenPayment['request']) => Promise<RegistryAnswer>,
): Promise<void> {
  const { callers, config, readPayment } = channel;
  const { request } = (await readPayment(id, requestRevision)).payment;
  const { code } = request.merchant;
  // The land registry asks for all its agencies.
  const caller = request.channel === 'landreg' ? request.channel : code;
  if (callers.filter((each) => each === caller).length >= mostOfOneCaller)
    throw new HttpProblem(429, 'Too many requests; try again later', { retryAfterSeconds: 1 });
  callers.push(caller);
  const asking = askAndRecord(ctx, channel, request, () => ask(request));
  const { answer, payment, asAt, events } = await asking.finally(() =>
    callers.splice(callers.indexOf(caller), 1),
  );
  if (answer.status === 'not_found') {
    const message = 'The transaction registry has no record of this transaction';
    throw new HttpProblem(404, message, { kind: 'paymentNotFound' });
  }
  const fields = paymentFields(payment);
  const isTold = (config.merchants.get(code)?.toldOf.length ?? 0) > 0;
  const data = {
    ...fields,
    ...(isTold && adjustmentFields(payment)),
    ...(asAt && { as_at: toIsoWithOffset(asAt.toISOString()) }),
  };
  ctx.body = { success: true, data, message: messageOf(answer, events, fields) };
}

/** The registry's answer, the payment after it, and its new events: null when the event store cannot take any. */
async function askAndRecord(
  ctx: Context,
  { personalData, readPayment, recordAnswer, runtime }: PaymentChannel,
  request: OpenPayment['request'],
  ask: () => Promise<RegistryAnswer>,
): Promise<LoadedPayment & { answer: RegistryAnswer; events: readonly PaymentEvent[] | null }> {
  const answer = await askRegistry(ask, (fault) =>
    recordAnswer(request, { fault }, { at: runtime.now().toISOString(), cause: causeOf(ctx, 'registry') }),
  );
  try {
    const at = runtime.now().toISOString();
    const { events, state } = await recordAnswer(request, answer, { at, cause: causeOf(ctx, 'registry') });
    if (state.status === 'none') throw new Error('A payment that was requeried has no state');
    return { payment: await openPayment(state, personalData.open), asAt: null, answer, events };
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    return { ...(await readPayment(request.transactionId)), answer, events: null };
  }
}

/** Any row has the request, which never changes. */
const requestRevision = 0;

const appliedTypes: readonly PaymentEvent['type'][] = ['PaymentSucceeded', 'PaymentFailed', 'PaymentPending'];

/** What is left to staff. */
const reviews: Partial<Record<PaymentEvent['type'], string>> = texts.reviews;

function messageOf(
  answer: RegistryAnswer,
  events: readonly PaymentEvent[] | null,
  data: PaymentFields,
): string {
  const said = `The registry says ${texts.answers[answer.status]}`;
  if (!events)
    return `${said}, which cannot be recorded at the moment: status remains ${data.payment_status}`;
  const left = events.flatMap(({ type }) => reviews[type] ?? []);
  const became = events.some(({ type }) => appliedTypes.includes(type)) ? 'updated to' : 'remains';
  return `${said}: ${[...left, `status ${became} ${data.payment_status}`].join('; ')}`;
}
