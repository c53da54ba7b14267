/** GET /console/live?of=&seen=: tells an open page that there is something new, as server-sent events. */
import { Readable } from 'node:stream';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { sharedAnswer } from '@ledger/kernel/shared-answer.ts';
import { transactionIdPattern } from '../../../commands/transaction-id.ts';
import { paymentStream } from '../../../events/payment.ts';
import { noSuchPayment } from '../../server/load-history.ts';
import { readQuery } from './forms-and-lists.ts';
import { isPaymentInScope } from './guards.ts';
import type { Page, PageDependencies } from './page.ts';
import { createSlots } from './request-slots.ts';

const everyMs = 1_000;
/** The session is checked, and a comment sent, so that no proxy closes the connection as idle. */
const checkedEveryMs = 10_000;

export function createLive(): Page {
  const refusal = 'Too many pages are open that update by themselves';
  const takeSlot = createSlots({ most: 200, mostOfOnePerson: 20, refusal });
  let positions: (() => Promise<string>) | null = null;
  return async (ctx, dependencies) => {
    const { closing, projectionStatus, runtime, sessions } = dependencies;
    const { merchants } = ctx.state.staff;
    positions ??= sharedAnswer(
      async () => JSON.stringify((await projectionStatus()).map(({ position }) => String(position?.commit))),
      everyMs - 100,
      runtime,
    );
    const { of = '', seen } = readQuery(ctx);
    const isPayment = transactionIdPattern.test(of);
    if (isPayment && !(await isPaymentInScope(merchants, of, dependencies.eventStore))) throw noSuchPayment();
    // The positions, and rebuilds, would tell of the payments of all merchants.
    const now = async () => String(Math.floor(runtime.now().getTime() / checkedEveryMs));
    const watched = merchants && !isPayment ? now : (lookAt(of, dependencies) ?? positions);
    const look = () => watched().catch(() => null);
    const isSignedIn = async () => {
      const found = await sessions.find(ctx).catch(() => null);
      return found !== null && JSON.stringify(found.merchants) === JSON.stringify(merchants);
    };
    takeSlot(ctx);
    if (ctx.res.closed) return;
    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const first = seen ?? (await look());
    ctx.type = 'text/event-stream';
    ctx.set('X-Accel-Buffering', 'no');
    const signal = AbortSignal.any([gone.signal, closing]);
    ctx.body = Readable.from(messages(look, isSignedIn, first, runtime, signal));
  };
}

/** The events of a payment, or the rebuilds; null for anything else, which is in the read models. */
function lookAt(of: string, { eventStore, lookAtRebuilds }: PageDependencies) {
  if (of === 'rebuilds') return async () => JSON.stringify(await lookAtRebuilds());
  if (!transactionIdPattern.test(of)) return null;
  return async () => String((await eventStore.loadLast(paymentStream(of)))?.revision);
}

/** Ends with the session, or the signal. `look` gives a text that changes with what is watched, null for no answer. */
async function* messages(
  look: () => Promise<string | null>,
  isSignedIn: () => Promise<boolean>,
  first: string | null,
  runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  let seen = first;
  let checkedMs = runtime.monotonicMs();
  yield 'retry: 5000\n\n';
  while (!signal.aborted) {
    const found = await look();
    if (found !== null && found !== seen) yield 'data: changed\n\n';
    seen = found ?? seen;
    if (runtime.monotonicMs() - checkedMs >= checkedEveryMs) {
      if (!(await isSignedIn())) return;
      yield ':\n\n';
      checkedMs = runtime.monotonicMs();
    }
    await runtime.sleep(everyMs, signal);
  }
}
