/** The processes of the program on their simulated machines: they are started, killed, stopped and started again. */
import type { Log } from '@ledger/kernel/log.ts';
import { ConfigError } from '@ledger/kernel/yaml-file.ts';
import type { VerifyReport } from '../../../src/audit/verify/verify.ts';
import { Refused } from '../../../src/commands/decider.ts';
import type { Config } from '../../../src/config/config.ts';
import { reloadConfig } from '../../../src/config/reload.ts';
import type { Documents } from '../../../src/statements/document.ts';
import type { Life } from '../checks/lost-keys.ts';
import type { History } from '../engine/history.ts';
import { useFork } from '../engine/node-api.ts';
import { type Clock, createProcess, type OnCrash, type SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Report } from '../violations.ts';
import { forkChild, purposeOf } from './child.ts';
import { configurationOf } from './configuration.ts';
import { firstKeys, type Keys, keysWhileUpgrading } from './keys.ts';
import { createRefusals } from './refusals.ts';
import { type Release, thisRelease } from './releases.ts';

/** What stays if its process is another. */
type Placed = { role: Role; clock: Clock; keys: Keys };
type Node = Placed & {
  process: SimulatedProcess;
  starts: number;
  bornMs: number;
  /** Of the process that runs; null until it has begun. */
  config: Config | null;
  /** Ends the process in order. To be called in it. */
  end(): Promise<void>;
};

type Settings = Pick<
  Parameters<typeof configurationOf>[1],
  'isRemoved' | 'retentionDays' | 'verifyAt' | 'witnessUrls'
>;

const starters = { http: 'startHttp', projections: 'startProjections', reactors: 'startReactors' } as const;
export type Role = keyof typeof starters;

/** A process that does not end by itself is killed. */
const endsWithinMs = 20_000;
const startsAfterMs = 2_000;
export type Nodes = {
  names: readonly string[];
  roleOf(name: string): Role;
  process(name: string): SimulatedProcess;
  /** SIGKILL, and a new process after a while. */
  crash(name: string, forMs: number): void;
  /** The process ends, and begins again with this release. */
  upgrade(name: string): void;
  /** What the machine of a process has from now on: its next start, or `reload`, uses it. */
  setKeys(name: string, keys: Keys): void;
  /** As SIGHUP: the process reads its files again. */
  reload(name: string): void;
  /** As SIGTERM: the process ends in order, and a new one begins. Resolves when that runs. */
  restart(name: string): Promise<void>;
  /** As SIGTERM; the process stays away until the function that it resolves to is called. */
  stop(name: string): Promise<() => void>;
  pause(name: string, forMs: number): void;
  setClock(name: string, clock: Clock): void;
  /** Of the processes that were killed, or ended. */
  lives: readonly Life[];
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
  logOf,
  wrongKey,
  settingsOf,
  onVerify,
  onPrinted,
  onDrawn,
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
  /** The log of a process. */
  logOf: (name: string) => Log;
  /** The process that has another transaction key than the others once it was started again. */
  wrongKey: string | null;
  /** Of a process, whenever it reads its files. */
  settingsOf: (name: string) => Settings;
  /** A daily verification begins; what is returned takes what it found, once that is recorded. */
  onVerify: () => (report: VerifyReport) => void;
  /** A receipt is printed, with the address that confirms it. */
  onPrinted: (verifyUrl: string) => void;
  /** A receipt of a payment is being drawn, until it resolves. */
  onDrawn: (transactionId: string) => Promise<void>;
  /** The release before this one, and the processes that run it until they are upgraded. */
  previous: { release: Release; names: readonly string[] } | null;
  report: Report;
}): Nodes {
  const upgraded = new Set<string>();
  const lives: Life[] = [];
  /** What operators have stopped: a supervisor does not start it again. */
  const stopped = new Set<string>();
  let deaths = 0;
  const refusals = createRefusals(scheduler.nowMs);
  const releaseOf = (name: string): Release =>
    previous?.names.includes(name) && !upgraded.has(name) ? previous.release : thisRelease;
  const nodes = new Map<string, Node>();
  // What PDFs look like has tests of its own.
  const documents: Documents = {
    async receipt({ transactionId }, { verifyUrl }) {
      if (verifyUrl !== '') onPrinted(verifyUrl);
      await onDrawn(transactionId);
      return Buffer.from('%PDF a receipt');
    },
    collection: async () => Buffer.from('%PDF a statement'),
  };
  const onCrash: OnCrash = (process, error) => {
    const { name } = process;
    // It has another key than the others. The previous release refuses it otherwise.
    if (name === wrongKey && (error instanceof ConfigError || error instanceof Refused)) {
      history.tell(`${name}: does not start: ${error.message}`);
      return process.kill();
    }
    reportDeath(name, error);
    deaths += 1;
    // Later each time, as supervisors do: a simulation would not come to its end.
    crash(name, Math.min(2 ** deaths, 600) * 1_000);
  };
  const reportDeath = (name: string, error: unknown) =>
    report('process-died', name, error instanceof Error ? (error.stack ?? error.message) : String(error));

  function start(name: string, { role, clock, keys }: Placed, starts: number): void {
    const process = createProcess({
      name,
      scheduler,
      random: random.fork(`${name} ${starts}`),
      stretch: (ms) => stretch(ms, name),
      onCrash,
    });
    process.setClock(clock);
    const end = async () => undefined;
    const node: Node = { role, process, clock, keys, starts, bornMs: scheduler.nowMs(), config: null, end };
    nodes.set(name, node);
    process.enter(() => {
      const log = logOf(name);
      const release = releaseOf(name);
      const { loadConfig, openStores } = release;
      const hasWrongKey = name === wrongKey && starts > 0;
      const config = configurationOf(name, {
        dataDir,
        eventStoreUrl,
        hasWrongKey,
        ...settingsOf(name),
        keys,
        loadConfig,
      });
      node.config = config;
      const stores = { ...openStores(config, log, process.runtime), documents };
      const { append } = stores.eventStore;
      stores.eventStore = { ...stores.eventStore, append: refusals.noting(name, append) };
      const running = Promise.resolve(release[starters[role]](stores));
      running.catch((error: unknown) => onCrash(process, error));
      node.end = async () => {
        await (await running).stop();
        await stores.stop();
      };
    });
  }

  let forked = 0;
  useFork((parent, file, args) => {
    forked += 1;
    const { name } = parent;
    const purpose = purposeOf(file, args);
    const [command] = purpose;
    history.tell(`${name}: starts a process to ${command}`);
    return forkChild(parent, purpose, {
      config: configurationOf(name, {
        dataDir,
        eventStoreUrl,
        ...settingsOf(name),
        keys: nodeNamed(name).keys,
      }),
      scheduler,
      random: random.fork(`child ${forked}`),
      log: logOf(`${name} (${command})`),
      onVerify,
      onDied: (error) => reportDeath(name, error),
    });
  });

  const nodeNamed = (name: string) => {
    const node = nodes.get(name);
    if (!node) throw new Error(`There is no process ${name}`);
    return node;
  };

  const keys = previous ? keysWhileUpgrading : firstKeys;
  for (const [role, count] of Object.entries(counts) as [Role, number][])
    for (let number = 1; number <= count; number += 1)
      start(`${role}-${number}`, { role, clock: { offsetMs: 0, drift: 0 }, keys }, 0);
  // The log knows the right key by then.
  if (wrongKey !== null) scheduler.after(10_000, () => crash(wrongKey, 1_000));

  function crash(name: string, forMs: number): void {
    if (nodeNamed(name).process.state() === 'dead') return;
    history.tell(`${name}: is killed for ${forMs} ms`);
    kill(name);
    scheduler.after(forMs, () => !stopped.has(name) && startAgain(name));
  }

  function kill(name: string): void {
    const { process, bornMs } = nodeNamed(name);
    process.kill();
    lives.push({ bornMs, diedMs: scheduler.nowMs() });
  }

  function startAgain(name: string): void {
    const node = nodeNamed(name);
    if (node.process.state() !== 'dead') return;
    history.tell(`${name}: starts again`);
    start(name, node, node.starts + 1);
  }

  async function stop(name: string): Promise<() => void> {
    const { process, end } = nodeNamed(name);
    stopped.add(name);
    const begin = () => {
      stopped.delete(name);
      startAgain(name);
    };
    if (process.state() === 'dead') return begin;
    history.tell(`${name}: is asked to end`);
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    process.enter(() => void end().then(resolve, (error: unknown) => onCrash(process, error)));
    scheduler.after(endsWithinMs, resolve);
    await ended;
    if (process.state() !== 'dead') kill(name);
    return begin;
  }

  return {
    names: [...nodes.keys()],
    lives,
    refusedAtMs: refusals.atMs,
    roleOf: (name) => nodeNamed(name).role,
    process: (name) => nodeNamed(name).process,
    crash,
    upgrade(name) {
      history.tell(`${name}: is upgraded`);
      upgraded.add(name);
      crash(name, 2_000);
    },
    setKeys(name, keys) {
      nodeNamed(name).keys = keys;
    },
    reload(name) {
      const { process, config, keys } = nodeNamed(name);
      history.tell(`${name}: reads its files again`);
      const load = () => configurationOf(name, { dataDir, eventStoreUrl, ...settingsOf(name), keys });
      process.enter(() => config && reloadConfig(config, load, logOf(name)));
    },
    stop,
    async restart(name) {
      scheduler.after(startsAfterMs, await stop(name));
      // Perhaps something else had killed it, for a while; what has another key never starts.
      let looks = 0;
      do await scheduler.sleep(2 * startsAfterMs);
      while (nodeNamed(name).process.state() === 'dead' && ++looks < 60);
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
