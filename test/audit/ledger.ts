/** A sealed ledger with every kind of event in it, to copy, tamper with and verify. */
import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { createFingerprint } from '@ledger/personal-data/fingerprint.ts';
import type { PersonalData } from '@ledger/personal-data/personal-data.ts';
import { connectPostgres } from '@ledger/postgres/pool.ts';
import { forAll, type KeyTerm, type SealKey, sealKeyOf, termText } from '@ledger/transparency-log/key.ts';
import type { Offer } from '@ledger/transparency-log/offer-to-witnesses.ts';
import type { ExecutionContext } from 'ava';
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';
import { keptCheckpoints } from '../../src/audit/seals/kept-checkpoints.ts';
import { startSealer } from '../../src/audit/seals/sealer.ts';
import { readSignedSeal } from '../../src/audit/seals/stored-seals.ts';
import { loadAcknowledgements } from '../../src/audit/verify/acknowledgements.ts';
import { type LogResult, type VerifiedUntil, verifyLog } from '../../src/audit/verify/log.ts';
import { secondLookMs } from '../../src/audit/verify/read-models.ts';
import { verifySeals } from '../../src/audit/verify/seals.ts';
import { createViolations, type Violation, type ViolationKind } from '../../src/audit/verify/violations.ts';
import { createExecute } from '../../src/commands/execute.ts';
import { type ExecutePayment, paymentDecider } from '../../src/commands/payment.ts';
import { projectDecider } from '../../src/commands/project.ts';
import { createQuarantine } from '../../src/commands/unmatched.ts';
import { userDecider } from '../../src/commands/user.ts';
import { type Cause, chain, genesisHash } from '../../src/events/envelope.ts';
import { paymentStream } from '../../src/events/payment.ts';
import { projectStream } from '../../src/events/project.ts';
import { countIn, emptyTally, sealsStream, signedText } from '../../src/events/seals.ts';
import { streamPrefixes } from '../../src/events/streams.ts';
import { userStream } from '../../src/events/user.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';
import { electionOn } from '../support/leader-election.ts';
import { payer as aminah, choose, record, requestPayment, result } from '../support/payments.ts';
import { personalData } from '../support/personal-data.ts';
import { testRuntime } from '../support/runtime.ts';

export const key: SealKey = sealKeyOf('5ea1'.repeat(16));
export const otherKey: SealKey = sealKeyOf('07e4'.repeat(16));

/** As a file for an auditor. */
export const pemOf = ({ publicKey }: SealKey) => `${termText(forAll(publicKey))}\n`;

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

async function makePayment(pay: ExecutePayment, number: number): Promise<void> {
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

/** What a sealer needs beside the log: its tables, and the file of the last checkpoint. Closed when the run ends. */
export function sealing(databaseUrl: string, folder: string) {
  const db = connectPostgres({ url: databaseUrl, log });
  const kept = keptCheckpoints(db, join(folder, 'last-checkpoint'));
  return { databaseUrl, election: electionOn(databaseUrl), db, kept, origin: 'ledger.example/log' };
}

/** Runs a sealer until everything is sealed. */
export async function sealAll(
  eventStore: EventStore,
  stores: ReturnType<typeof sealing> & { offer?: Offer },
  events: number,
  signer = key,
  previous: SealKey | null = null,
): Promise<void> {
  const sealer = startSealer({
    ...stores,
    eventStore,
    keys: () => ({ current: signer, previous }),
    runtime: testRuntime({ now: () => new Date('2026-11-20T02:00:00.000Z') }),
    log,
    pace: { everyEvents, everyMs: 3_600_000 },
  });
  await until(async () => {
    const last = await eventStore.loadLast(sealsStream);
    return last?.type === 'CheckpointSigned' && readSignedSeal(last)?.count === events;
  });
  await sealer.stop();
}

/** Seals as releases before the tree did: after every few events, with a running hash. */
export async function sealByRunningHash(eventStore: EventStore, signer = key): Promise<void> {
  let tally = emptyTally;
  let previousSeal = genesisHash;
  const reading = { streamPrefixes, after: null, signal: new AbortController().signal };
  for await (const message of eventStore.subscribe(reading)) {
    if (message.kind === 'caught_up') return;
    if (message.kind !== 'event') continue;
    const { streamName: stream, revision, id, position } = message.event;
    tally = countIn(tally, message.event);
    if (tally.count % everyEvents > 0) continue;
    const unsigned = {
      at: '2026-11-20T02:00:00.000Z',
      position: { commit: String(position.commit), prepare: String(position.prepare) },
      ...tally,
      lastEvent: { stream, revision, id },
      streams: [...streamPrefixes],
      previousSeal,
      publicKey: signer.publicKey,
    };
    const data = { ...unsigned, signature: signer.sign(signedText(unsigned)) };
    const [event] = chain([{ type: 'LogSealed' as const, data }], previousSeal, cause());
    if (!event) throw new Error('not chained');
    const last = await eventStore.loadLast(sealsStream);
    await eventStore.append(sealsStream, [event], last?.revision ?? 'no_stream');
    previousSeal = event.metadata.hash;
  }
}

/** The system's, without the time after which rows that differ are compared again. */
export const hastyRuntime = testRuntime({
  async sleep(ms, signal) {
    if (ms !== secondLookMs) await systemRuntime.sleep(ms, signal);
  },
});

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
  /** Of what was found. */
  kinds: readonly ViolationKind[];
  first(kind: ViolationKind): string | undefined;
};

/** The part of `verify` that needs the log alone. */
export async function verdictOn(
  eventStore: EventStore,
  trusted: readonly KeyTerm[] | null = [forAll(key.publicKey)],
  { from = null, headsKept }: { from?: VerifiedUntil | null; headsKept?: number } = {},
): Promise<Verdict> {
  const violations = createViolations();
  const { marks, keys } = await verifySeals(eventStore, trusted, violations);
  const { signal } = new AbortController();
  const acknowledgements = await loadAcknowledgements(eventStore, keys, violations);
  const logResult = await verifyLog({
    eventStore,
    acknowledgements,
    marks,
    from,
    violations,
    signal,
    onProgress: () => {},
    ...(headsKept !== undefined && { headsKept }),
  });
  const found = violations.all();
  const { explained } = acknowledgements;
  return {
    result: logResult,
    explained,
    found,
    kinds: found.map(({ kind }) => kind),
    first: (kind) => found.find((each) => each.kind === kind)?.first,
  };
}
