/** Lets the time of a plan pass: the faults, their end and the calm after it; and checks what is left in the end. */
import { checkHealth } from './checks/health.ts';
import type { LogCheck } from './checks/log.ts';
import { mayLoseKeysOf } from './checks/lost-keys.ts';
import { checkRows } from './checks/rows.ts';
import { checkSettled } from './checks/settled.ts';
import type { createVerifiedCheck } from './checks/verified.ts';
import type { History } from './engine/history.ts';
import type { SimulatedProcess } from './engine/process.ts';
import type { Scheduler } from './engine/scheduler.ts';
import type { FaultKind, Plan } from './plan.ts';
import type { Nodes } from './program/nodes.ts';
import { type createPace, longestSleepMs } from './program/pace.ts';
import type { Rotations } from './program/rotation.ts';
import type { EventStoreCluster } from './stores/event-store.ts';
import type { createViolations, Violation } from './violations.ts';
import type { Bank } from './world/bank.ts';
import type { KeyCommands } from './world/key-commands.ts';
import type { Links } from './world/links.ts';
import type { startReceivers } from './world/receivers.ts';
import type { Staff } from './world/staff.ts';

type Simulation = {
  plan: Plan;
  /** From when on its times are counted. */
  beganMs: number;
  people: SimulatedProcess;
  staffProcess: SimulatedProcess;
  scheduler: Scheduler;
  history: History;
  cluster: EventStoreCluster;
  nodes: Nodes;
  pace: ReturnType<typeof createPace>;
  bank: Bank;
  links: Links;
  receivers: ReturnType<typeof startReceivers>;
  staff: Staff;
  commands: KeyCommands;
  rotations: Rotations;
  logCheck: LogCheck;
  verified: ReturnType<typeof createVerifiedCheck>;
  retentionMs: number | null;
  violations: ReturnType<typeof createViolations>;
};

/** To be called when everything that is planned has been put on the queue of the scheduler. */
export async function playOut(simulation: Simulation): Promise<void> {
  const { plan, beganMs, scheduler, history, cluster, nodes, pace, links, rotations, logCheck } = simulation;
  const { report } = simulation.violations;
  const has = (kind: FaultKind) => plan.faults.some((fault) => fault.kind === kind);
  let position = 0;
  const runUntil = (endMs: number, isDone = () => false) =>
    scheduler.run(() => {
      const last = cluster.lastPosition();
      if (last !== position) logCheck.look();
      position = last;
      return scheduler.nowMs() < endMs && !isDone();
    });
  await runUntil(beganMs + plan.healAtMs);
  history.tell('everything heals');
  for (const name of nodes.names) nodes.setClock(name, { offsetMs: 0, drift: 0 });
  await runUntil(scheduler.nowMs() + 60_000);
  pace.setCalm(true);
  await runUntil(beganMs + plan.healAtMs + plan.calmMs);

  pace.setCalm(false);
  // Until the long sleeps of the calm end, nobody may lead what the deaf leader has just given up.
  if (has('deaf-leader')) await runUntil(scheduler.nowMs() + longestSleepMs);
  if (rotations.open() > 0) report('rotation-stuck', 'operators', `${rotations.open()} have not ended`);
  let areLinksOpened = !has('rotate');
  if (!areLinksOpened) void links.openMany().then(() => (areLinksOpened = true));
  await runUntil(scheduler.nowMs() + 600_000, () => areLinksOpened);
  await checkEnd(simulation, runUntil);
}

async function checkEnd(
  {
    plan,
    beganMs,
    people,
    staffProcess,
    scheduler,
    nodes,
    bank,
    receivers,
    staff,
    commands,
    rotations,
    logCheck,
    verified,
    retentionMs,
    violations: { report, all },
  }: Simulation,
  runUntil: (endMs: number, isDone: () => boolean) => Promise<void>,
): Promise<void> {
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
  const { hasParked, unreadable } = await checkRows({
    plan,
    log: logCheck,
    staff,
    staffProcess,
    trusted: commands.trusted(),
    allDataKeys: rotations.allDataKeys(),
    verified,
    retentionMs,
    mayLoseKeys: mayLoseKeysOf(plan, { beganMs, lives: nodes.lives }),
    nowMs: scheduler.nowMs,
    runUntil,
    report,
  });
  const hasFaults = () => all().some(isAboutTheEnd) || unreadable > 0;
  const isWell = () => !hasParked && !hasFaults();
  const hosts = nodes.names.filter(
    (name) => nodes.roleOf(name) === 'http' && nodes.process(name).state() === 'running',
  );
  await checkHealth(people, { staffProcess, staff, hosts, runUntil, scheduler, report, hasFaults, isWell });
}

const isAboutTheEnd = ({ invariant }: Violation): boolean =>
  ['rows-differ', 'delivery-stuck', 'projection-behind'].includes(invariant);
