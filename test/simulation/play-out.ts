/** Lets the time of a plan pass: the faults, their end and the calm after it; and checks what is left in the end. */
import { checkHealth } from './checks/health.ts';
import type { LogCheck } from './checks/log.ts';
import { checkRows } from './checks/rows.ts';
import { checkSettled } from './checks/settled.ts';
import type { createVerifiedCheck } from './checks/verified.ts';
import { checkWitnessed } from './checks/witnessed.ts';
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
import type { MerchantSystems } from './world/merchant-systems.ts';
import type { Receivers } from './world/receivers.ts';
import type { Staff } from './world/staff.ts';
import type { Witnesses } from './world/witnesses.ts';

export type Simulation = {
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
  receivers: Receivers;
  merchantSystems: MerchantSystems;
  staff: Staff;
  commands: KeyCommands;
  rotations: Rotations;
  logCheck: LogCheck;
  verified: ReturnType<typeof createVerifiedCheck>;
  retentionMs: number | null;
  /** The real folder of the processes. */
  dataDir: string;
  witnesses: Witnesses;
  violations: ReturnType<typeof createViolations>;
};

/** Lets time pass until it is `endMs`, or everything that is waited for is done. */
export type RunUntil = (endMs: number, isDone?: () => boolean) => Promise<void>;

/** To be called when everything that is planned has been put on the queue of the scheduler. */
export async function playOut(simulation: Simulation): Promise<void> {
  const { plan, beganMs, scheduler, history, cluster, nodes, pace, links, rotations, logCheck } = simulation;
  const { report } = simulation.violations;
  const has = (kind: FaultKind) => plan.faults.some((fault) => fault.kind === kind);
  let position = 0;
  const runUntil: RunUntil = (endMs, isDone = () => false) =>
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

async function checkEnd(simulation: Simulation, runUntil: RunUntil): Promise<void> {
  const { merchantSystems, nodes, people, scheduler, violations } = simulation;
  checkSettled(simulation);
  checkWitnessed(simulation);
  const { hasParked, unreadable } = await checkRows(simulation, runUntil);
  let areListsRead = false;
  people.enter(() => void merchantSystems.checkEnd().then(() => (areListsRead = true)));
  await runUntil(scheduler.nowMs() + 600_000, () => areListsRead);
  const hasFaults = () => violations.all().some(isAboutTheEnd) || unreadable > 0;
  const isWell = () => !hasParked && !hasFaults();
  const hosts = nodes.names.filter(
    (name) => nodes.roleOf(name) === 'http' && nodes.process(name).state() === 'running',
  );
  await checkHealth(simulation, { hosts, runUntil, hasFaults, isWell });
}

const isAboutTheEnd = ({ invariant }: Violation): boolean =>
  ['rows-differ', 'delivery-stuck', 'projection-behind'].includes(invariant);
