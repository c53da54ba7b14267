/** The processes of the program on their simulated machines: they are started, killed, stopped and started again. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { createLog, type Log } from '@ledger/kernel/log.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import { Refused } from '../../../src/commands/decider.ts';
import type { Documents } from '../../../src/statements/document.ts';
import type { History } from '../engine/history.ts';
import { useFork } from '../engine/node-api.ts';
import { type Clock, createProcess, type OnCrash, type SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { unreadableType } from '../plan.ts';
import type { Report } from '../violations.ts';
import { forkChild, purposeOf } from './child.ts';
import { configurationOf } from './configuration.ts';
import { type Release, thisRelease } from './releases.ts';

type Settings = Pick<Parameters<typeof configurationOf>[1], 'retentionDays' | 'verifyAt'>;

const starters = { http: 'startHttp', projections: 'startProjections', reactors: 'startReactors' } as const;
export type Role = keyof typeof starters;

/** Errors that only say that a store or the registry is away. */
const outages = new Set([
  'EventStoreUnavailable',
  'EventStoreFull',
  'KnexTimeoutError',
  'RegistryUnavailable',
]);

/** What PDFs look like has tests of its own. */
const documents: Documents = {
  receipt: async () => Buffer.from('%PDF a receipt'),
  collection: async () => Buffer.from('%PDF a statement'),
};

export type Nodes = {
  names: readonly string[];
  roleOf(name: string): Role;
  process(name: string): SimulatedProcess;
  /** SIGKILL, and a new process after a while. */
  crash(name: string, forMs: number): void;
  /** The process ends, and begins again with this release. */
  upgrade(name: string): void;
  pause(name: string, forMs: number): void;
  setClock(name: string, clock: Clock): void;
  /** When processes were killed. */
  deathsMs: readonly number[];
  /** When the event store last had no room for what a process appended; minus infinity if it has some. */
  refusedAtMs(name: string): number;
};

export function createNodes({
  counts,
  scheduler,
  random,
  history,
  dataDir,
  eventStoreUrl,
  stretch,
  hasUnreadable,
  mayLoseKeys,
  wrongKey,
  settings,
  onVerify,
  previous,
  report,
}: {
  counts: Readonly<Record<Role, number>>;
  scheduler: Scheduler;
  random: Random;
  history: History;
  /** A real folder, for the emails. */
  dataDir: string;
  eventStoreUrl: string;
  stretch(ms: number, name: string): number;
  /** Whether there will be an event that nobody can read. */
  hasUnreadable: boolean;
  /** Whether keys of personal data may be lost, after which the hourly check finds rows that still hold a name. */
  mayLoseKeys: boolean;
  /** The process that has another transaction key than the others once it was started again. */
  wrongKey: string | null;
  settings: Settings;
  /** A daily verification begins; what is returned takes what it found, once that is recorded. */
  onVerify: () => (report: VerifyReport) => void;
  /** The release before this one, and the processes that run it until they are upgraded. */
  previous: { release: Release; names: readonly string[] } | null;
  report: Report;
}): Nodes {
  const upgraded = new Set<string>();
  const deathsMs: number[] = [];
  const refusedAtMs = new Map<string, number>();
  const releaseOf = (name: string): Release =>
    previous?.names.includes(name) && !upgraded.has(name) ? previous.release : thisRelease;
  const nodes = new Map<string, { role: Role; process: SimulatedProcess; clock: Clock; starts: number }>();
  const onCrash: OnCrash = (process, error) => {
    const { name } = process;
    // It has another key than the others. The previous release refuses it otherwise.
    if (error instanceof ConfigError || error instanceof Refused) {
      history.tell(`${name}: does not start: ${error.message}`);
      return process.kill();
    }
    reportDeath(name, error);
    crash(name, 1_000);
  };
  const reportDeath = (name: string, error: unknown) =>
    report('process-died', name, error instanceof Error ? (error.stack ?? error.message) : String(error));

  function start(name: string, role: Role, clock: Clock, starts: number): void {
    const process = createProcess({
      name,
      scheduler,
      random: random.fork(`${name} ${starts}`),
      stretch: (ms) => stretch(ms, name),
      onCrash,
    });
    process.setClock(clock);
    nodes.set(name, { role, process, clock, starts });
    process.enter(() => {
      const log = logOf(name);
      const release = releaseOf(name);
      const { loadConfig, openStores } = release;
      const hasWrongKey = name === wrongKey && starts > 0;
      const config = configurationOf(name, {
        dataDir,
        eventStoreUrl,
        hasWrongKey,
        ...settings,
        loadConfig,
      });
      const stores = { ...openStores(config, log, process.runtime), documents };
      refusedAtMs.delete(name);
      const { append } = stores.eventStore;
      stores.eventStore = { ...stores.eventStore, append: noting(name, append) };
      Promise.resolve(release[starters[role]](stores)).catch((error: unknown) => onCrash(process, error));
    });
  }

  function noting(name: string, append: EventStore['append']): EventStore['append'] {
    return async (...args) => {
      try {
        const stored = await append(...args);
        refusedAtMs.delete(name);
        return stored;
      } catch (error) {
        if (error instanceof Error && error.name === 'EventStoreFull')
          refusedAtMs.set(name, scheduler.nowMs());
        throw error;
      }
    };
  }

  function logOf(name: string): Log {
    return createLog('warn', name, {
      write(line: string) {
        const { level, msg, reason, message, err } = JSON.parse(line);
        const detail = err ? `${err.type}: ${err.message}` : (reason ?? message ?? '');
        // Some messages have a stack trace, which some runs only make.
        const [said] = msg.split('\n');
        history.tell(`${name}: ${level >= 50 ? 'ERROR' : 'warns'}: ${said}${detail ? ` (${detail})` : ''}`);
        // A request about a payment that the simulator has made unreadable is refused.
        const refusals = [`Unknown event type ${unreadableType}`, 'The history of a payment is not whole'];
        const isRefused = hasUnreadable && msg === 'request failed' && refusals.includes(err?.message);
        const isOfLostKeys = mayLoseKeys && msg.startsWith('the hourly check found');
        // What it finds is checked by itself.
        const isVerified = msg === 'the daily verification found violations';
        if (level >= 50 && !outages.has(err?.type) && !isRefused && !isOfLostKeys && !isVerified)
          report('program-fault', `${name.replace(/-\d+$/, '')}: ${msg}`, err?.stack ?? detail);
      },
    });
  }

  let forked = 0;
  useFork((parent, file) => {
    forked += 1;
    const { name } = parent;
    const purpose = purposeOf(file);
    history.tell(`${name}: starts a process to ${purpose}`);
    return forkChild(parent, purpose, {
      config: configurationOf(name, { dataDir, eventStoreUrl, ...settings }),
      scheduler,
      random: random.fork(`child ${forked}`),
      log: logOf(`${name} (${purpose})`),
      onVerify,
      onDied: (error) => reportDeath(name, error),
    });
  });

  const nodeNamed = (name: string) => {
    const node = nodes.get(name);
    if (!node) throw new Error(`There is no process ${name}`);
    return node;
  };

  for (const [role, count] of Object.entries(counts) as [Role, number][])
    for (let number = 1; number <= count; number += 1)
      start(`${role}-${number}`, role, { offsetMs: 0, drift: 0 }, 0);
  // The log knows the right key by then.
  if (wrongKey !== null) scheduler.after(10_000, () => crash(wrongKey, 1_000));

  function crash(name: string, forMs: number): void {
    const { role, process, clock, starts } = nodeNamed(name);
    if (process.state() === 'dead') return;
    history.tell(`${name}: is killed for ${forMs} ms`);
    process.kill();
    deathsMs.push(scheduler.nowMs());
    scheduler.after(forMs, () => {
      history.tell(`${name}: starts again`);
      start(name, role, clock, starts + 1);
    });
  }

  return {
    names: [...nodes.keys()],
    deathsMs,
    refusedAtMs: (name) => refusedAtMs.get(name) ?? Number.NEGATIVE_INFINITY,
    roleOf: (name) => nodeNamed(name).role,
    process: (name) => nodeNamed(name).process,
    crash,
    upgrade(name) {
      history.tell(`${name}: is upgraded`);
      upgraded.add(name);
      crash(name, 2_000);
    },
    pause(name, forMs) {
      const { process } = nodeNamed(name);
      if (process.state() !== 'running') return;
      history.tell(`${name}: is stopped for ${forMs} ms`);
      process.pause();
      scheduler.after(forMs, () => {
        if (process.state() === 'paused') history.tell(`${name}: continues`);
        process.resume();
      });
    },
    setClock(name, clock) {
      const node = nodeNamed(name);
      node.clock = clock;
      history.tell(`${name}: its clock is ${clock.offsetMs} ms off and drifts by ${clock.drift}`);
      node.process.setClock(clock);
    },
  };
}
