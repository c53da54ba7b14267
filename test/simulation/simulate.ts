/** Plays one plan from beginning to end, and says what it found wrong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootMs, startMsOf } from './calendar-plans.ts';
import { createLogCheck } from './checks/log.ts';
import { createMonitor } from './checks/monitor.ts';
import { createVerifiedCheck } from './checks/verified.ts';
import { createHistory } from './engine/history.ts';
import { createNetwork } from './engine/network.ts';
import { useNetwork } from './engine/node-api.ts';
import { createProcess, within } from './engine/process.ts';
import { createRandom } from './engine/random.ts';
import { createScheduler } from './engine/scheduler.ts';
import { applyFault } from './faults.ts';
import { databaseAheadMsIn, type FaultKind, type Plan } from './plan.ts';
import { playOut } from './play-out.ts';
import { configurationOf, merchants } from './program/configuration.ts';
import { createNodeLogs } from './program/node-logs.ts';
import { createNodes } from './program/nodes.ts';
import { createPace } from './program/pace.ts';
import { previousRelease } from './program/releases.ts';
import { createRemovals } from './program/removals.ts';
import { createRotations } from './program/rotation.ts';
import { retentionMsOf } from './retention-plans.ts';
import { createEventStoreCluster } from './stores/event-store.ts';
import { useEventStore } from './stores/event-store-client.ts';
import { createPostgres } from './stores/postgres.ts';
import type { PostgresServer } from './stores/postgres-server.ts';
import { verifyAtOf } from './verification-plans.ts';
import { createViolations, type Violation } from './violations.ts';
import { chargedSinceMsIn, patienceMsIn, troubledIn } from './world/asking.ts';
import { createBank } from './world/bank.ts';
import { createGateway } from './world/gateway.ts';
import { createKeyCommands } from './world/key-commands.ts';
import { createLinks } from './world/links.ts';
import { createMerchantSystems } from './world/merchant-systems.ts';
import { playPayment } from './world/payers.ts';
import { startReceivers } from './world/receivers.ts';
import { startTransactionRegistry } from './world/registry.ts';
import { createSendings } from './world/sendings.ts';
import { createStaff } from './world/staff.ts';
import { createTerminal } from './world/terminal.ts';
import { createWallets } from './world/wallets.ts';
import { startWitnesses } from './world/witnesses.ts';

export type SimulationResult = {
  violations: readonly Violation[];
  digest: string;
  lines: readonly string[];
  simulatedMs: number;
  events: number;
  posts: number;
  charges: number;
};

let databases = 0;

export async function simulate(plan: Plan, server: PostgresServer): Promise<SimulationResult> {
  databases += 1;
  const database = `simulation_${databases}`;
  await server.query(`create database ${database}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'ledger-simulation-'));
  const startMs = startMsOf(plan);
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
  const has = (...kinds: readonly FaultKind[]) => plan.faults.some(({ kind }) => kinds.includes(kind));
  const { http, projections, reactors, wrongKey } = plan;
  const counts = { http, projections, reactors };
  const old = plan.faults.flatMap((fault) => (fault.kind === 'upgrade' ? [fault.node] : []));
  const bank = createBank(scheduler.nowMs);
  const balancer = random.fork('load balancer');
  const pickHttp = () => `http-${balancer.integer(1, http)}`;
  const people = machine('payers');
  const mayBeRefused = has('restore', 'recovery', 'clock', 'database-clock');
  const links = createLinks({
    process: people,
    pickHttp,
    random: random.fork('links'),
    report,
    history,
    mayBeRefused,
  });
  const removals = createRemovals(scheduler.nowMs);
  const witnesses = startWitnesses(machine, history);
  const nodes = createNodes({
    counts,
    scheduler,
    random: random.fork('nodes'),
    history,
    dataDir,
    eventStoreUrl: cluster.url,
    stretch: pace.stretch,
    logOf: createNodeLogs({ plan, history, report }),
    wrongKey,
    settingsOf: (name) => ({
      isRemoved: removals.has(name),
      retentionDays: plan.retentionDays,
      verifyAt: verifyAtOf(plan, startMs),
      witnessUrls: has('witness') ? witnesses.urls : [],
    }),
    onVerify: () => verified.begin(),
    onPrinted: links.keep,
    onDrawn: (id) => sendings.draw(id),
    previous: old.length > 0 ? { release: await previousRelease(), names: old } : null,
    report,
  });
  const retentionMs = retentionMsOf(plan);
  const logCheck = createLogCheck({ cluster, bank, report, history, nowMs: scheduler.nowMs, retentionMs });
  const verified = createVerifiedCheck({
    plan,
    startMs,
    log: logCheck,
    report,
    nowMs: scheduler.nowMs,
    deathsMs: () => nodes.lives.map(({ diedMs }) => diedMs),
  });
  const gatewayProcess = machine('gateway.example');
  const gateway = createGateway({ process: gatewayProcess, bank, links, pickHttp, report, history });
  const registry = startTransactionRegistry({ process: machine('registry.example'), bank });
  const wallets = createWallets({
    log: logCheck,
    nowMs: scheduler.nowMs,
    stretch: plan.stretch,
    mayLackMerchant: removals.isAnywhere,
    report,
  });
  const staffProcess = machine('staff');
  const sendings = createSendings({
    logCheck,
    report,
    erase: (id) => staffProcess.enter(() => void staff.erasures.eraseOne(id, 'staff:one')),
    erasedAtMs: (id) => (has('recovery', 'pause') ? undefined : staff.erasures.stores.told.get(id)),
  });
  const receivers = startReceivers({
    processes: merchants.map((name) => machine(`${name}.example`)),
    report,
    history,
    leasesLostAtMs: () => Math.max(postgres.failedOverAtMs(), postgres.clockSetAtMs()),
    wallets,
    sendings,
  });
  const terminal = createTerminal({
    name: 'operators',
    scheduler,
    random: random.fork('operators'),
    history,
    configOf: (keys) => configurationOf('operators', { dataDir, eventStoreUrl: cluster.url, keys }),
  });
  const staff = within(staffProcess, () =>
    createStaff({
      process: staffProcess,
      bank,
      logCheck,
      history,
      report,
      servesOldState: cluster.servesOldState,
      mayMiss: () =>
        has('restore', 'recovery', 'postgres-failover', 'postgres-restore') || cluster.servesOldState(),
      pickHttp,
      mayBeRefused: mayBeRefused || has('rotate'),
      terminal,
      killsImports: has('imports'),
      onLoad: (stream) => gatewayProcess.enter(() => gateway.mayReport(stream.replace(/^payment-/, ''))),
      config: configurationOf('staff', { dataDir, eventStoreUrl: cluster.url }),
    }),
  );

  const commands = createKeyCommands({ terminal, scheduler, history });
  const rotations = createRotations({ nodes, scheduler, links, commands, staff, report, history });
  const world = {
    process: people,
    bank,
    gateway,
    links,
    wallets,
    pickHttp,
    report,
    history,
    patienceMs: patienceMsIn(plan),
    databaseAheadMs: databaseAheadMsIn(plan),
    lacksMerchantSinceMs: removals.sinceMs,
    isCalm: pace.isCalm,
    troubled: troubledIn(plan),
    chargedSinceMs: chargedSinceMsIn(logCheck, cluster.servesOldState),
  };
  const merchantSystems = createMerchantSystems(world, {
    log: logCheck,
    hosts: Array.from({ length: http }, (_, index) => `http-${index + 1}`),
    lostAtMs: postgres.failedOverAtMs,
    mayBeOld: has('restore', 'recovery', 'freeze-leader'),
    isOlder: has('restore'),
    // With what PostgreSQL loses, secrets may be lost that are sealed.
    kinds: has('postgres-failover', 'postgres-restore') ? ['api-key'] : ['api-key', 'webhook-secret'],
  });
  for (const payment of plan.payments)
    scheduler.after(bootMs + payment.atMs, () => people.enter(() => void playPayment(payment, world)));

  for (const fault of plan.faults)
    scheduler.after(bootMs + fault.atMs, () =>
      applyFault(fault, {
        nodes,
        removals,
        rotations,
        commands,
        network,
        cluster,
        postgres,
        receivers,
        registry,
        witnesses,
        sendings,
        gateway: { run: (work) => gatewayProcess.enter(() => void work(gateway)) },
        merchants: (work) => people.enter(() => void work(merchantSystems)),
        staff: (work) => staffProcess.enter(() => void work(staff)),
        scheduler,
        bank,
        logCheck,
        random,
        history,
        dataDir,
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

  await playOut({
    plan,
    beganMs: startMs + bootMs,
    people,
    staffProcess,
    scheduler,
    history,
    cluster,
    nodes,
    pace,
    bank,
    links,
    receivers,
    merchantSystems,
    staff,
    commands,
    rotations,
    logCheck,
    verified,
    retentionMs,
    dataDir,
    witnesses,
    violations: { report, all },
  });

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
