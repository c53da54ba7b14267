// A ledger whose personal data are erased, for the tests of erasing.
import { randomUUID } from 'node:crypto';
import { keysPerBlock, wrappingKeys } from '@ledger/personal-data/key-store.ts';
import { createPersonalData } from '@ledger/personal-data/personal-data.ts';
import { createPostgresKeyStore, destroyedChannel } from '@ledger/personal-data/postgres-key-store.ts';
import { listenForNotifications } from '@ledger/postgres/notifications.ts';
import { compareWithFresh } from '@ledger/projections/rebuild/compare.ts';
import type { ExecutionContext } from 'ava';
import { createExecute, loadHead } from '../../src/commands/execute.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { openPayment } from '../../src/events/open-payment.ts';
import { paymentStream, type RequestedPayment } from '../../src/events/payment.ts';
import { createErase } from '../../src/personal-data/erase.ts';
import { details } from '../../src/projections/details/projection.ts';
import { madeWithKeys } from '../../src/projections/payments/payers.ts';
import { payments } from '../../src/projections/payments/projection.ts';
import { unmatched } from '../../src/projections/unmatched/projection.ts';
import { caughtUp, emptyDatabase, log, type Postgres, run, startStore } from '../projections/helpers.ts';
import { choose, record, type request, requestPayment, result } from '../support/payments.ts';
import { testRuntime } from '../support/runtime.ts';

export const idOf = (number: number) => String(number).padStart(26, '0');

export const cause = () => {
  const commandId = randomUUID();
  return { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
};

/** A ledger in whose payments personal data are sealed, without roles: projections run where a test starts them. */
export async function startErasing(t: ExecutionContext, postgres: Postgres) {
  const { url, db } = await emptyDatabase(postgres);
  const store = await startStore(t);
  const { eventStore } = store;
  let now = new Date('2026-11-20T02:00:00.000Z');
  const runtime = testRuntime({ now: () => now });
  /** As a process of its own has it. */
  const openKeyStore = () =>
    createPostgresKeyStore({
      db,
      madeWithKeys,
      wrapping: wrappingKeys(Buffer.alloc(32, 'k').toString('base64'), []),
      runtime,
    });
  const keyStore = openKeyStore();
  const personalData = createPersonalData({
    store: keyStore,
    listen: (onNotification) =>
      listenForNotifications({ databaseUrl: url, channel: destroyedChannel, onNotification, log, runtime }),
    ahead: keysPerBlock,
    log,
    runtime,
  });
  t.teardown(personalData.stop);
  await personalData.start();
  const execute = createExecute({ eventStore, decider: paymentDecider, seal: personalData.seal });
  const copies: string[] = [];
  const parts = {
    store: keyStore,
    eventStore,
    onErased: async (ids: readonly string[]) => copies.push(...ids) > 0,
    runtime,
  };
  const erase = createErase(parts);
  const asked = (subject: string) => [{ subject, reason: 'requested' as const, actor: 'staff:tests' }];
  const load = async (id: string): Promise<RequestedPayment> => {
    const { state } = await loadHead(eventStore, paymentStream(id), paymentDecider);
    if (state.status === 'none') throw new Error('There is no such payment');
    return state;
  };
  return {
    url,
    db,
    eventStore,
    personalData,
    openKeyStore,
    erasures: keyStore.erasures,
    dropLeftovers: async () => undefined,
    differenceMs: () => 0,
    parts,
    copies,
    execute,
    asked,
    erase,
    load,
    setNow(time: string) {
      now = new Date(time);
    },
    runtime,
    open: async (id: string) => openPayment(await load(id), personalData.open),
    typesOf: async (id: string) => (await eventStore.load(paymentStream(id))).map(({ type }) => type),
    async pay(number: number, over: Parameters<typeof request>[0] = {}) {
      const id = idOf(number);
      const stream = paymentStream(id);
      const asked = requestPayment({ transactionId: id, reference: `R-${number}`, ...over });
      await execute(stream, asked, cause(), { creates: true });
      await execute(stream, choose(1), cause());
      const order = { sellerOrderNo: `${id}-1` };
      await execute(stream, record(result(1, 'succeeded', order)), cause());
      return id;
    },
    project(t: ExecutionContext) {
      for (const projection of [payments, details, unmatched])
        run(t, projection, { eventStore }, { db, url }, { personalData, runtime });
    },
    caughtUp: () => caughtUp([payments, details], { eventStore }, { db }),
    compare: (projection: typeof payments) =>
      compareWithFresh({
        projection,
        eventStore,
        db,
        databaseUrl: url,
        personalData,
        log,
        runtime,
        signal: new AbortController().signal,
        onProgress: () => undefined,
        limit: 10,
      }),
  };
}

/** jsonb travels as text. */
export const asStored = (row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null || value instanceof Date || Buffer.isBuffer(value) || typeof value !== 'object'
        ? value
        : JSON.stringify(value),
    ]),
  );
