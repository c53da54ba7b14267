/** Lets a planned fault happen, and ends it after its time. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/events/envelope.ts';
import type { LogCheck } from './checks/log.ts';
import type { History } from './engine/history.ts';
import type { Network } from './engine/network.ts';
import { uuidOf } from './engine/process.ts';
import { createRandom, type Random } from './engine/random.ts';
import type { Scheduler } from './engine/scheduler.ts';
import { type Fault, unreadableType } from './plan.ts';
import type { Nodes } from './program/nodes.ts';
import type { Removals } from './program/removals.ts';
import type { Rotations } from './program/rotation.ts';
import type { EventStoreCluster } from './stores/event-store.ts';
import type { SimulatedPostgres } from './stores/postgres.ts';
import type { Bank } from './world/bank.ts';
import type { Gateway } from './world/gateway.ts';
import type { KeyCommands } from './world/key-commands.ts';
import type { MerchantSystems } from './world/merchant-systems.ts';
import type { Receivers } from './world/receivers.ts';
import { copiedMs, loseLog, recover } from './world/recovery.ts';
import type { startTransactionRegistry } from './world/registry.ts';
import type { Sendings } from './world/sendings.ts';
import type { Staff } from './world/staff.ts';
import type { Witnesses } from './world/witnesses.ts';

type Affected = {
  nodes: Nodes;
  removals: Removals;
  rotations: Rotations;
  commands: KeyCommands;
  network: Network;
  cluster: EventStoreCluster;
  postgres: SimulatedPostgres;
  receivers: Receivers;
  registry: ReturnType<typeof startTransactionRegistry>;
  witnesses: Witnesses;
  sendings: Sendings;
  /** Runs in the process of the gateway. */
  gateway: { run(work: (gateway: Gateway) => unknown): void };
  staff(work: (staff: Staff) => unknown): void;
  merchants(work: (systems: MerchantSystems) => unknown): void;
  scheduler: Scheduler;
  bank: Bank;
  logCheck: LogCheck;
  random: Random;
  history: History;
  dataDir: string;
};

/** The process that one fault cuts off from the event store for ever: it leads at first. */
export const deafLeader = 'projections-1';

/** When staff try a stream again, counted from the event that nobody can read. */
const triedAgainAfterMs = [30_000, 30 * 60_000] as const;

/** When staff repeat what they have erased, counted from the older copy of the log. */
const repeatedAfterMs = 60_000;

export function applyFault(fault: Fault, affected: Affected): unknown {
  const { nodes, network, cluster, postgres, receivers, registry, scheduler, history } = affected;
  const after = (forMs: number, run: () => unknown) => void scheduler.after(forMs, run);
  const repeatErasures = () => affected.staff((staff) => staff.erasures.repeatAll());
  switch (fault.kind) {
    case 'crash':
      return nodes.crash(fault.node, fault.forMs);
    case 'crash-at': {
      const { node, what, nth, forMs } = fault;
      const isTo = (name: string) =>
        what === 'postgres'
          ? name === 'postgres'
          : what === 'event store'
            ? cluster.names.includes(name)
            : receivers.names.includes(name);
      return network.onArrival(node, isTo, nth, () => nodes.crash(node, forMs));
    }
    case 'pause':
      return nodes.pause(fault.node, fault.forMs);
    case 'upgrade':
      return nodes.upgrade(fault.node);
    case 'cut': {
      const { from, to, bothWays, forMs } = fault;
      history.tell(
        `network: nothing reaches ${to} from ${from}${bothWays ? ' or back' : ''} for ${forMs} ms`,
      );
      after(forMs, network.cut(from, to));
      if (bothWays) after(forMs, network.cut(to, from));
      return;
    }
    case 'slow':
      history.tell(`network: ${fault.node} is ${fault.delayMs} ms away for ${fault.forMs} ms`);
      return after(fault.forMs, network.slow(fault.node, fault.delayMs));
    case 'clock':
      nodes.setClock(fault.node, fault);
      return after(fault.forMs, () => nodes.setClock(fault.node, { offsetMs: 0, drift: 0 }));
    case 'postgres-crash':
      postgres.crash();
      return after(fault.forMs, postgres.start);
    case 'postgres-read-only':
    case 'postgres-full':
      postgres.setWrites(fault.kind === 'postgres-full' ? 'no room' : 'read only');
      return after(fault.forMs, () => postgres.setWrites('taken'));
    case 'postgres-crowded':
      postgres.setCrowded(true);
      // Others are quicker when everybody connects again.
      if (fault.isAfterCrash) {
        postgres.crash();
        postgres.start();
      }
      return after(fault.forMs, () => postgres.setCrowded(false));
    case 'slow-disk': {
      const { setSlow } = fault.store === 'postgres' ? postgres : cluster;
      setSlow(fault.delayMs);
      return after(fault.forMs, () => setSlow(0));
    }
    case 'witness':
      affected.witnesses.setMood(fault.number, fault.does);
      return after(fault.forMs, () => affected.witnesses.setMood(fault.number, 'well'));
    case 'late-results':
      affected.gateway.run((gateway) => gateway.setLate(true));
      return after(fault.forMs, () => affected.gateway.run((gateway) => gateway.setLate(false)));
    case 'erase-sending':
      affected.sendings.setErasing(true);
      return after(fault.forMs, () => affected.sendings.setErasing(false));
    case 'database-clock':
      postgres.setClock(fault.offsetMs);
      return after(fault.forMs, () => postgres.setClock(0));
    case 'postgres-failover':
      return goBack(affected, { afterMs: fault.lagMs, forMs: fault.forMs });
    case 'postgres-restore':
      return goBack(affected, { afterMs: fault.ageMs, forMs: fault.forMs }, () => {
        // As content/docs/personal-data.md says: unused keys in files may not be in the copy.
        rmSync(join(affected.dataDir, 'unused-keys'), { recursive: true, force: true });
      });
    case 'freeze-leader':
      return cluster.freezeLeader(fault.forMs);
    case 'kill-event-store':
      return cluster.kill(cluster.names[fault.number % cluster.names.length] ?? '', fault.forMs);
    case 'torn-append':
      return cluster.tearNextAppend(fault.forMs, fault.isStored);
    case 'disk-full':
      cluster.setFull(true);
      return after(fault.forMs, () => cluster.setFull(false));
    case 'registry-outage':
      history.tell(`registry: is out of order for ${fault.forMs} ms`);
      registry.setTrouble('fails');
      return after(fault.forMs, () => registry.setTrouble(null));
    case 'registry-trouble':
      history.tell(`registry: ${fault.does} for ${fault.forMs} ms`);
      registry.setTrouble(fault.does);
      return after(fault.forMs, () => registry.setTrouble(null));
    case 'receiver':
      receivers.setMood(fault.merchant, fault.does);
      return after(fault.forMs, () => receivers.setMood(fault.merchant, 'well'));
    case 'restore':
      after(repeatedAfterMs, repeatErasures);
      return loseLog(Math.max(1, cluster.lastPosition() - fault.lastEvents), affected);
    case 'recovery':
      // It takes simulated time, for which the scheduler must not wait.
      return void recover(fault, affected).then(repeatErasures);
    case 'unreadable':
      // Staff try the stream again while other faults go on, and once more when they may have ended.
      for (const afterMs of triedAgainAfterMs)
        after(afterMs, () => affected.staff((staff) => staff.requests.requestRetries()));
      return writeUnreadable(affected);
    case 'deaf-leader':
      history.tell(`network: ${deafLeader} never reaches the event store again`);
      for (const name of cluster.names) {
        network.cut(deafLeader, name);
        network.cut(name, deafLeader);
      }
      return;
    case 'alternate-unmatched':
      return affected.gateway.run((gateway) => gateway.alternateUnmatched(fault.times));
    case 'stray-results':
      return affected.gateway.run((gateway) => gateway.reportStrays(fault.count));
    case 'shared-gateway-id':
      return affected.gateway.run((gateway) => gateway.shareId());
    case 'import':
      return affected.staff((staff) => staff.imports.importExport(scheduler.nowMs() - fault.ageMs));
    case 'rebuild': {
      // Half of them in the console, the others at a terminal.
      const isRequested = fault.atMs % 2 === 0;
      const { projection } = fault;
      return affected.staff((staff) =>
        isRequested ? staff.requests.requestRebuild(projection) : staff.rebuild(projection),
      );
    }
    case 'resolve':
      return affected.staff((staff) => staff.settleMoney(createRandom(`resolve ${fault.draw}`)));
    case 'verdicts':
      return affected.staff((staff) => staff.verdicts.decideAll(createRandom(`verdicts ${fault.draw}`)));
    case 'settle':
      return affected.staff((staff) => staff.settlements.settle(createRandom(`settle ${fault.draw}`)));
    case 'imports':
      return affected.staff((staff) => staff.imports.importSome(createRandom(`imports ${fault.draw}`)));
    case 'erase':
      return affected.staff((staff) => staff.erasures.eraseSome(createRandom(`erase ${fault.draw}`)));
    case 'quarantine':
      return affected.staff((staff) =>
        staff.quarantine.resolveSome(createRandom(`quarantine ${fault.draw}`)),
      );
    case 'send-again':
      return affected.staff((staff) => staff.sendAgain.sendSome(createRandom(`send again ${fault.draw}`)));
    case 'merchant-reads':
      return affected.merchants((systems) => systems.readSome(createRandom(`merchant ${fault.draw}`)));
    case 'credentials':
      return affected.merchants((systems) => systems.replaceSome(createRandom(`credentials ${fault.draw}`)));
    case 'clerks':
      return affected.staff((staff) => staff.clerks.work(createRandom(`clerks ${fault.draw}`)));
    case 'merchant-removed': {
      const give = (isRemoved: boolean) => {
        for (const [index, name] of nodes.names.entries())
          after(index * fault.gapMs, () => {
            affected.removals.set(name, isRemoved);
            nodes.reload(name);
          });
      };
      give(true);
      return after(fault.forMs, () => give(false));
    }
    case 'subject-access':
      return affected.staff((staff) => staff.subjectAccess.ask());
    case 'rotate':
      return affected.rotations.begin(fault);
    case 'notes':
      return affected.staff((staff) => staff.erasures.addNotes(createRandom(`notes ${fault.draw}`)));
    default:
      return fault satisfies never;
  }
}

/** PostgreSQL goes on as it was `afterMs` ago, from a copy that is made now. */
function goBack(
  { postgres, scheduler }: Affected,
  { afterMs, forMs }: { afterMs: number; forMs: number },
  prepare = () => {},
): void {
  postgres.crash();
  const copy = postgres.copy();
  scheduler.after(copiedMs, postgres.start);
  scheduler.after(copiedMs + afterMs, () => {
    postgres.crash();
    postgres.goBackTo(copy);
    prepare();
    scheduler.after(forMs, postgres.start);
  });
}

/** An event of a type that only a newer program knows, in the stream of the first payment. */
function writeUnreadable({ cluster, logCheck, random }: Affected): unknown {
  const [id] = logCheck.payments.keys();
  if (id === undefined) return undefined;
  const stream = `payment-${id}`;
  const data = { at: '2026-11-20T01:00:00.000Z' };
  const cause = { commandId: uuidOf(random.bytes(16)), correlationId: id, causationId: id, actor: 'gateway' };
  const [event] = chain([{ type: unreadableType, data }], logCheck.hashOf(stream), cause);
  return event && cluster.inject(stream, event);
}
