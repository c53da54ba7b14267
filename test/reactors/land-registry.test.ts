// Payments of many items on real stores, told to the sandbox's land registry: each item for itself, and each once.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { end } from '../projections/helpers.ts';
import { startGateway } from '../sandbox/helpers.ts';
import { createDatabase } from '../support/postgres.ts';
import {
  endLeases,
  historyOf,
  isReady,
  type Ledger,
  makePayment,
  startLedger,
  until,
  untilHistory,
} from './helpers.ts';
import { paymentOfItems, startItems, titleOf } from './land-registry.ts';
import { startReceiver } from './receiver.ts';

const postgres = await createDatabase();
const minute = 60_000;

/** The sandbox's land registry, as a person sees and sets it. */
async function startLandRegistry(t: ExecutionContext) {
  const { url } = await startGateway(t);
  return {
    callbackUrl: `${url}/land-registry/callback`,
    async behave(mode: string, failingTitleId = ''): Promise<void> {
      const body = new URLSearchParams({ mode, failingTitleId });
      await fetch(`${url}/land-registry`, { method: 'POST', body, redirect: 'manual' });
    },
    /** How many callbacks got which answer. */
    async counts(): Promise<Record<string, number>> {
      const page = await (await fetch(`${url}/land-registry`)).text();
      const found = page.matchAll(/<span class="state \w+">. ([^<]+)<\/span>: (\d+)/g);
      return Object.fromEntries(Array.from(found, ([, answer = '', count]) => [answer, Number(count)]));
    },
  };
}

/** Lets the clock run until the history is so long. */
async function passUntilHistory(
  ledger: Ledger,
  reactor: { wake(): void },
  transactionId: string,
  length: number,
) {
  return await until(async () => {
    ledger.clock.set(ledger.clock.now().getTime() + minute);
    reactor.wake();
    await sleep(20);
    const history = await historyOf(ledger, transactionId);
    return history.length >= length && history;
  });
}

const typesOf = (history: { type: string }[]) => history.map(({ type }) => type);

test.serial('20 items: 20 callbacks accepted, none refused', async (t) => {
  const ledger = await startLedger(t, postgres);
  const registry = await startLandRegistry(t);
  startItems(t, ledger, registry.callbackUrl);
  await makePayment(ledger, 'P1', paymentOfItems('P1', 20));
  const history = await untilHistory(ledger, 'P1', 20);
  t.deepEqual(new Set(typesOf(history)), new Set(['CallbackDelivered']));
  t.deepEqual(await registry.counts(), { Accepted: 20 });
});

test.serial('one failing item does not affect the others, and is delivered later', async (t) => {
  const ledger = await startLedger(t, postgres);
  const registry = await startLandRegistry(t);
  await registry.behave('accept', titleOf(7));
  const reactor = startItems(t, ledger, registry.callbackUrl);
  await makePayment(ledger, 'P1', paymentOfItems('P1', 20));
  const history = await untilHistory(ledger, 'P1', 20);
  const [failure, ...more] = history.filter(({ type }) => type !== 'CallbackDelivered');
  t.like(failure, {
    type: 'CallbackAttemptFailed',
    data: { delivery: 'item-07', attempt: 1, status: 200, reason: 'refused by the land registry' },
  });
  t.deepEqual(more, []);
  await registry.behave('accept');
  const later = await passUntilHistory(ledger, reactor, 'P1', 21);
  t.like(later[20], { type: 'CallbackDelivered', data: { delivery: 'item-07', attempt: 2, status: 200 } });
  t.deepEqual(await registry.counts(), { Accepted: 20, Refused: 1 });
});

test.serial(
  'an answer lost after acceptance: the repeat is a duplicate, and counts as delivered',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const registry = await startLandRegistry(t);
    await registry.behave('lose-answer');
    const reactor = startItems(t, ledger, registry.callbackUrl);
    await makePayment(ledger, 'P1', paymentOfItems('P1', 3));
    await untilHistory(ledger, 'P1', 3);
    await registry.behave('accept');
    const history = await passUntilHistory(ledger, reactor, 'P1', 6);
    t.deepEqual(typesOf(history), [
      ...Array(3).fill('CallbackAttemptFailed'),
      ...Array(3).fill('CallbackDelivered'),
    ]);
    t.like(history[0]?.data, { status: null, reason: 'connection closed before an answer' });
    t.deepEqual(await registry.counts(), {
      'Accepted, but the answer was lost': 3,
      'Refused as a duplicate': 3,
    });
  },
);

test.serial('after hours of refusals every item arrives', async (t) => {
  const ledger = await startLedger(t, postgres);
  const registry = await startLandRegistry(t);
  await registry.behave('refuse');
  const reactor = startItems(t, ledger, registry.callbackUrl);
  await makePayment(ledger, 'P1', paymentOfItems('P1', 2));
  await passUntilHistory(ledger, reactor, 'P1', 6);
  await registry.behave('accept');
  const history = await passUntilHistory(ledger, reactor, 'P1', 8);
  t.deepEqual(typesOf(history).slice(6), ['CallbackDelivered', 'CallbackDelivered']);
});

test.serial(
  'kill -9 between acceptance and its record: sent again, and the duplicate is understood',
  async (t) => {
    const ledger = await startLedger(t, postgres);
    const registry = await startLandRegistry(t);
    const killed: ChildProcess = forkItems(
      t,
      ledger,
      await killingProxy(t, registry.callbackUrl, () => end(killed)),
    );
    await isReady(killed);
    await makePayment(ledger, 'P1', paymentOfItems('P1', 1));
    await until(() => killed.signalCode !== null);
    t.deepEqual(await registry.counts(), { Accepted: 1 });
    await endLeases(ledger);
    forkItems(t, ledger, registry.callbackUrl);
    const history = await untilHistory(ledger, 'P1', 2);
    t.like(history[0], {
      type: 'CallbackAttemptFailed',
      data: { delivery: 'item-01', attempt: 1, reason: 'outcome unknown, the attempt was interrupted' },
    });
    t.like(history[1], { type: 'CallbackDelivered', data: { delivery: 'item-01', attempt: 2, status: 200 } });
    t.deepEqual(await registry.counts(), { Accepted: 1, 'Refused as a duplicate': 1 });
  },
);

/** Hands a callback on, and kills who sent it before it learns of the answer. */
async function killingProxy(t: ExecutionContext, callbackUrl: string, kill: () => unknown): Promise<string> {
  const proxy = await startReceiver(t, (response, received) => {
    const headers = {
      'content-type': 'application/json',
      'access-token': String(received.headers['access-token']),
    };
    void fetch(callbackUrl, { method: 'POST', headers, body: received.body })
      .then(kill)
      .finally(() => response.destroy());
  });
  return proxy.url;
}

/** The reactor in a process of its own, on the real clock, see land-registry-child.ts. */
function forkItems(t: ExecutionContext, { store, database }: Ledger, callbackUrl: string): ChildProcess {
  const script = fileURLToPath(new URL('./land-registry-child.ts', import.meta.url));
  const child = fork(script, [store.url, database.url, callbackUrl], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.teardown(() => end(child));
  return child;
}
