/** Plays one plan from beginning to end, and says what it found wrong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkErased } from './checks/erased.ts';
import { checkHealth } from './checks/health.ts';
import { createLogCheck } from './checks/log.ts';
import { mayLoseKeysOf } from './checks/lost-keys.ts';
import { createMonitor } from './checks/monitor.ts';
import { checkSettled } from './checks/settled.ts';
import { createVerifiedCheck, kindsForStaff } from './checks/verified.ts';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { useNetwork } from './engine/node-api.ts';
import { createProcess, within } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';
import { applyFault } from './faults.ts';
import type { Plan } from './plan.ts';
import { configurationOf, merchants } from './program/configuration.ts';
import { createNodes } from './program/nodes.ts';
import { createPace } from './program/pace.ts';
import { previousRelease } from './program/releases.ts';
import { retentionMsOf } from './retention-plans.ts';
import { createEventStoreCluster } from './stores/event-store.ts';
import { useEventStore } from './stores/event-store-client.ts';
import { createPostgres } from './stores/postgres.ts';
import type { PostgresServer } from './stores/postgres-server.ts';
import { verifyAtOf } from './verification-plans.ts';
import { createViolations, type Violation } from './violations.ts';
import { createBank } from './world/bank.ts';
import { createGateway } from './world/gateway.ts';
import { playPayment } from './world/payers.ts';
import { startReceivers } from './world/receivers.ts';
import { startTransactionRegistry } from './world/registry.ts';
import { createStaff } from './world/staff.ts';

export type SimulationResult = {
  violations: readonly Violation[];
  digest: string;
  lines: readonly string[];
  simulatedMs: number;
  events: number;
  posts: number;
  charges: number;
};

/** 09:00 in Malaysia on an ordinary Friday. */
const startMs = Date.parse('2026-11-20T01:00:00Z');
/** The processes have started by then. */
const bootMs = 10_000;

let databases = 0;

export async function simulate(plan: Plan, server: PostgresServer): Promise<SimulationResult> {
  databases += 1;
  const database = `simulation_${databases}`;
  await server.query(`create database ${database}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-simulation-'));
  const scheduler = createScheduler(startMs);
  const history = createHistory(scheduler.nowMs, startMs);
  const random = createRandom(`simulation ${plan.seed}`);
  const { report, all } = createViolations(history, scheduler.nowMs);
  const network = createNetwork({ scheduler, random: random.fork('network'), history });
  useNetwork(network);
  const machine = (name: string) => createProcess({ name, scheduler, random: random.fork(name) });
  const postgres = createPostgres({
    server,
    database,
    process: machine('postgres'),
    network,
    scheduler,
    history,
  });
  const cluster = createEventStoreCluster({
    names: Array.from({ length: plan.eventStores }, (_, index) => `eventstore-${index + 1}`),
    scheduler,
    network,
    random: random.fork('event store'),
    history,
  });
  useEventStore(network, cluster);

  const pace = createPace(plan, { beganMs: startMs + bootMs, nowMs: scheduler.nowMs });
  const { http, projections, reactors, wrongKey } = plan;
  const counts = { http, projections, reactors };
  const old = plan.faults.flatMap((fault) => (fault.kind === 'upgrade' ? [fault.node] : []));
  const nodes = createNodes({
    counts,
    scheduler,
    random: random.fork('nodes'),
    history,
    dataDir,
    eventStoreUrl: cluster.url,
    stretch: pace.stretch,
    hasUnreadable: plan.faults.some(({ kind }) => kind === 'unreadable'),
    mayLoseKeys: plan.faults.some(({ kind }) => kind === 'postgres-failover'),
    wrongKey,
    settings: { retentionDays: plan.retentionDays, verifyAt: verifyAtOf(plan, startMs) },
    onVerify: () => verified.begin(),
    previous: old.length > 0 ? { release: await previousRelease(), names: old } : null,
    report,
  });
  const balancer = random.fork('load balancer');
  const pickHttp = () => `http-${balancer.integer(1, http)}`;

  const bank = createBank(scheduler.nowMs);
  const retentionMs = retentionMsOf(plan);
  const logCheck = createLogCheck({ cluster, bank, report, history, nowMs: scheduler.nowMs, retentionMs });
  const verified = createVerifiedCheck({
    plan,
    startMs,
    log: logCheck,
    report,
    nowMs: scheduler.nowMs,
    deathsMs: () => nodes.deathsMs,
  });
  const gatewayProcess = machine('gateway.example');
  const gateway = createGateway({ process: gatewayProcess, bank, pickHttp, report, history });
  const registry = startTransactionRegistry({ process: machine('registry.example'), bank });
  const receivers = startReceivers({
    processes: merchants.map((name) => machine(`${name}.example`)),
    report,
    history,
    leasesLostAtMs: postgres.failedOverAtMs,
  });
  const people = machine('payers');
  const staffProcess = machine('staff');
  const staff = within(staffProcess, () =>
    createStaff({
      process: staffProcess,
      bank,
      logCheck,
      history,
      report,
      servesOldState: cluster.servesOldState,
      config: configurationOf('staff', { dataDir, eventStoreUrl: cluster.url }),
    }),
  );

  const chargedSinceMs = (transactionId: string) => {
    // A page may then be old; what the payer chooses there is decided by an append, which only the leader takes.
    if (cluster.servesOldState()) return null;
    logCheck.look();
    return logCheck.payments.get(transactionId)?.chargedSinceMs ?? null;
  };
  // A node that is cut off from everybody does not hear those who ask either, or is not heard by them.
  const troubled = new Set(
    plan.faults.flatMap((it) => {
      if (it.kind === 'pause' || it.kind === 'slow') return [it.node];
      if (it.kind !== 'cut') return [];
      return it.from === '*' ? [it.to] : it.to === '*' ? [it.from] : [];
    }),
  );
  // A request waits for the program's own pauses, too, which are late here.
  // An append is tried for 2.5 s, looked for and repeated for 5 s, and looked for and repeated a last time.
  const patienceMs = 13_000 * plan.stretch;
  const world = {
    process: people,
    bank,
    gateway,
    pickHttp,
    report,
    history,
    patienceMs,
    troubled,
    chargedSinceMs,
  };
  for (const payment of plan.payments)
    scheduler.after(bootMs + payment.atMs, () => people.enter(() => void playPayment(payment, world)));

  for (const fault of plan.faults)
    scheduler.after(bootMs + fault.atMs, () =>
      applyFault(fault, {
        nodes,
        network,
        cluster,
        postgres,
        receivers,
        registry,
        gateway: { run: (work) => gatewayProcess.enter(() => void work(gateway)) },
        staff: (work) => staffProcess.enter(() => void work(staff)),
        scheduler,
        bank,
        logCheck,
        random,
        history,
      }),
    );

  createMonitor({
    process: machine('monitor'),
    plan,
    startMs: startMs + bootMs,
    isCalm: pace.isCalm,
    nodes,
    network,
    cluster,
    postgres,
    scheduler,
    report,
    history,
  }).start();

  let position = 0;
  const runUntil = (endMs: number, isDone = () => false) =>
    scheduler.run(() => {
      const last = cluster.lastPosition();
      if (last !== position) logCheck.look();
      position = last;
      return scheduler.nowMs() < endMs && !isDone();
    });
  await runUntil(startMs + bootMs + plan.healAtMs);
  history.tell('everything heals');
  for (const name of nodes.names) nodes.setClock(name, { offsetMs: 0, drift: 0 });
  await runUntil(scheduler.nowMs() + 60_000);
  pace.setCalm(true);
  await runUntil(startMs + bootMs + plan.healAtMs + plan.calmMs);

  pace.setCalm(false);
  checkSettled({
    plan,
    bank,
    log: logCheck,
    heard: receivers.heard,
    posts: receivers.posted,
    items: receivers.items,
    told: {
      confirmed: staff.confirmed(),
      verdicts: staff.verdicts.confirmed(),
      settlements: staff.settlements.told(),
    },
    nowMs: scheduler.nowMs(),
    report,
  });
  const unreadable = [...logCheck.payments].flatMap(([id, each]) => (each.isUnreadable ? [id] : []));
  // The callbacks of a payment that cannot be read wait until it can be.
  const isOfUnreadable = (kind: string, text: string) =>
    kind === 'overdue deliveries' && unreadable.some((id) => text.includes(id));
  const hasRestore = plan.faults.some(({ kind }) => kind === 'restore');
  const mayLoseKeys = mayLoseKeysOf(plan, { beganMs: startMs + bootMs, deathsMs: nodes.deathsMs });
  let finished = false;
  let hasParked = false;
  staffProcess.enter(() => {
    void staff.verify().then(async (violations) => {
      const nowMs = scheduler.nowMs();
      const erased = { log: logCheck, report, nowMs, retentionMs, hasRestore, mayLoseKeys };
      const lost = await checkErased(staff.erasures.stores, erased).catch((error: unknown) => {
        report('not-erased', 'keys', `They cannot be read: ${String(error)}`);
        return new Set<string>();
      });
      const isOfLost = (text: string) => [...lost].some((id) => text.includes(id));
      hasParked = violations?.some(({ kind }) => kind === 'parked streams') ?? false;
      for (const { kind, first } of violations ?? [])
        if (!kindsForStaff.includes(kind) && !isOfUnreadable(kind, first) && !isOfLost(first))
          report('rows-differ', kind, first);
      if (violations === null) report('rows-differ', 'verify', 'It could not be run');
      verified.check(await staff.lastVerified(), violations ?? []);
      const isTold = violations?.some(({ first }) => /gateway transaction/i.test(first));
      if (!isTold)
        for (const id of logCheck.sharedIds()) report('gateway-id-twice', id, 'It pays two payments');
      const isSettled = plan.faults.some(({ kind }) => kind === 'settle');
      if (isSettled && !(await staff.settlements.isBankRight().catch(() => false)))
        report('rows-differ', 'bank', 'The account is not what was settled');
      finished = true;
    });
  });
  await runUntil(scheduler.nowMs() + 600_000, () => finished);
  const hasFaults = () => all().some(isAboutTheEnd) || unreadable.length > 0;
  const isWell = () => !hasParked && !hasFaults();
  const hosts = nodes.names.filter(
    (name) => nodes.roleOf(name) === 'http' && nodes.process(name).state() === 'running',
  );
  await checkHealth(people, { staffProcess, staff, hosts, runUntil, scheduler, report, hasFaults, isWell });

  // Its database goes with the server: to drop it would cost a checkpoint.
  await postgres.close();
  cluster.close();
  rmSync(dataDir, { recursive: true, force: true });
  return {
    violations: all(),
    digest: history.digest(),
    lines: history.lines(),
    simulatedMs: scheduler.nowMs() - startMs,
    events: logCheck.events(),
    posts: receivers.posts(),
    charges: bank.charges.length,
  };
}

const isAboutTheEnd = ({ invariant }: Violation): boolean =>
  ['rows-differ', 'delivery-stuck', 'projection-behind'].includes(invariant);
