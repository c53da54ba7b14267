/** A sealed ledger with every kind of event in it, to copy, tamper with and verify. */
import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExecutionContext } from 'ava';
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';
import { type SealKey, sealKeyOf } from '../../src/audit/seals/key.ts';
import { startSealer } from '../../src/audit/seals/sealer.ts';
import { loadAcknowledgements } from '../../src/audit/verify/acknowledgements.ts';
import { type LogResult, verifyLog } from '../../src/audit/verify/log.ts';
import { verifySeals } from '../../src/audit/verify/seals.ts';
import { createViolations, type Violation, type ViolationKind } from '../../src/audit/verify/violations.ts';
import { createExecute, type ExecuteOf } from '../../src/commands/execute.ts';
import { createFingerprint } from '../../src/commands/fingerprint.ts';
import { paymentDecider } from '../../src/commands/payment.ts';
import { projectDecider } from '../../src/commands/project.ts';
import { createQuarantine } from '../../src/commands/unmatched.ts';
import { userDecider } from '../../src/commands/user.ts';
import type { Cause } from '../../src/events/envelope.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { projectStream } from '../../src/events/project.ts';
import { sealsStream } from '../../src/events/seals.ts';
import { userStream } from '../../src/events/user.ts';
import { connectEventStore } from '../../src/eventstore/client.ts';
import type { EventStore } from '../../src/eventstore/event-store.ts';
import { systemRuntime } from '../../src/kernel/system-runtime.ts';
import type { PersonalData } from '../../src/personal-data/personal-data.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { payer as aminah, choose, record, requestPayment, result } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { testRuntime } from '../support/runtime.ts';

export const key: SealKey = sealKeyOf('5ea1'.repeat(16));
export const otherKey: SealKey = sealKeyOf('07e4'.repeat(16));

/** How many events each seal covers in these tests, at least. */
export const everyEvents = 5;

export const paymentId = (number: number) => `PAYMENT${String(number).padStart(19, '0')}`;
export const userId = '5M1SKTZWGWX0D8P81WNP17GSCQ';
export const projectId = '7QW2Z7TCV8XN4RBJ6HYDFE5K3M';

export function cause(): Cause {
  const commandId = randomUUID();
  return { commandId, correlationId: commandId, causationId: commandId, actor: 'gateway' };
}

/** How many events `fill` makes. */
export const filled = 45;

/** Nine payments of four events each, of which every third fails first; a user, a project and an unmatched result. */
export async function fill(
  eventStore: EventStore,
  { seal }: Pick<PersonalData, 'seal'> = personalData,
): Promise<void> {
  const pay = createExecute({ eventStore, decider: paymentDecider, seal });
  for (let number = 1; number <= 9; number += 1) await makePayment(pay, number);
  const at = '2026-11-20T01:00:00.000Z';
  const user = { name: 'Aminah', email: 'aminah@agency.example', role: 'member' as const };
  await createExecute({ eventStore, decider: userDecider })(
    userStream(userId),
    { type: 'CreateUser', at, id: userId, user, console: true },
    cause(),
  );
  const project = { name: 'Receipts', status: 'active' as const, stars: 3 };
  await createExecute({ eventStore, decider: projectDecider })(
    projectStream(projectId),
    { type: 'RegisterProject', at, id: projectId, project },
    cause(),
  );
  await createQuarantine({
    eventStore,
    seal,
    fingerprint: createFingerprint('a key of the tests'),
  })(
    { at, channel: 'generic', verified: true, reason: 'unknown_transaction', raw: { TRANS_ID: 'X' } },
    cause(),
  );
}

type Pay = ExecuteOf<typeof paymentDecider>;

async function makePayment(pay: Pay, number: number): Promise<void> {
  const transactionId = paymentId(number);
  const stream = paymentStream(transactionId);
  const order = { sellerOrderNo: `${transactionId}-1`, gatewayTransactionId: `P${number}` };
  const payer = { ...aminah, email: '' };
  const asked = requestPayment({ transactionId, reference: `R-${number}`, payer });
  await pay(stream, asked, cause(), { creates: true });
  await pay(stream, choose(1), cause());
  if (number % 3 === 0) await pay(stream, record(result(1, 'failed', order)), cause());
  await pay(stream, record(result(1, 'succeeded', order)), cause());
  await pay(stream, delivered('callback-1'), cause());
  if (number % 3 === 0) await pay(stream, delivered('callback-2'), cause());
}

const delivered = (delivery: string) =>
  ({
    type: 'RecordDeliveryAttempt',
    at: '2026-11-20T01:06:00.000Z',
    delivery,
    attempt: 1,
    durationMs: 5,
    outcome: { kind: 'delivered', status: 200, messageId: '' },
  }) as const;

/** Runs a sealer until everything is sealed. */
export async function sealAll(eventStore: EventStore, databaseUrl: string, events: number): Promise<void> {
  const sealer = startSealer({
    eventStore,
    databaseUrl,
    key,
    runtime: testRuntime({ now: () => new Date('2026-11-20T02:00:00.000Z') }),
    log,
    pace: { everyEvents, everyMs: 3_600_000 },
  });
  await until(async () => {
    const last = await eventStore.loadLast(sealsStream);
    return (last?.data as { count: number } | undefined)?.count === events;
  });
  await sealer.stop();
}

export type Store = { port: number; eventStore: EventStore; close(): Promise<void> };

/** The embedded event store on a file, in this process; of several that are open only one can append. */
export async function openStore(file: string): Promise<Store> {
  const server = await startEventStore({ file, host: '127.0.0.1', port: 0 });
  const eventStore = connectEventStore({
    url: `esdb://127.0.0.1:${server.port}?tls=false`,
    log,
    runtime: systemRuntime,
  });
  let closed: Promise<void> | undefined;
  const closeBoth = async () => {
    await eventStore.close();
    await server.close();
  };
  return {
    port: server.port,
    eventStore,
    close() {
      closed ??= closeBoth();
      return closed;
    },
  };
}

/** A copy of a store whose file somebody has edited while it was closed. */
export async function tampered(
  t: ExecutionContext,
  file: string,
  edit: (db: DatabaseSync) => void,
): Promise<Store> {
  const copy = join(await temporaryFolder(t), 'eventstore.db');
  await copyFile(file, copy);
  const db = new DatabaseSync(copy);
  edit(db);
  db.close();
  const store = await openStore(copy);
  t.teardown(store.close);
  return store;
}

export type Verdict = {
  result: LogResult;
  explained: readonly string[];
  found: readonly Violation[];
  first(kind: ViolationKind): string | undefined;
};

/** The part of `verify` that needs the log alone. */
export async function verdictOn(
  eventStore: EventStore,
  trusted: readonly string[] | null = [key.publicKey],
): Promise<Verdict> {
  const violations = createViolations();
  const marks = await verifySeals(eventStore, trusted, violations);
  const { signal } = new AbortController();
  const acknowledgements = await loadAcknowledgements(eventStore, trusted, violations);
  const given = { eventStore, acknowledgements, marks, violations, signal };
  const logResult = await verifyLog({ ...given, onProgress: () => {} });
  const found = violations.all();
  const { explained } = acknowledgements;
  return {
    result: logResult,
    explained,
    found,
    first: (kind) => found.find((each) => each.kind === kind)?.first,
  };
}
