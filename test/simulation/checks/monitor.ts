/** Asks every process for its health all the time, as a monitor does, and compares the answers with what is true. */
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Plan } from '../plan.ts';
import type { Report } from '../violations.ts';
import { ask } from '../world/http.ts';
import { createWhatFails, outages, type World } from './what-fails.ts';

/** How often it looks at what is true, which costs next to nothing, and at the rows, which costs a little. */
const lookMs = 1_000;
const lookInCalmMs = 60_000;
const rowsMs = 5_000;
/** It is asked so long after something began or ended to be wrong: a question costs the program 10 ms of CPU. */
const askAfterMs = [7_000, 14_000] as const;
/** Otherwise it is asked this often. */
const askMs = { usual: 60_000, inCalm: 60 * 60_000 };
/** While the answer is not what is true. In calm, what is behind now need not be what was behind an hour ago. */
const askAgainMs = { usual: 10_000, inCalm: 10 * 60_000 };
/** Health tells of what has been true for this long, if it was asked once before. */
const toldWithinMs = 12_000;
/** Once nothing is wrong for a process, its health says so within this time, or as many times longer as its pauses are. */
const wellWithinMs = 30_000;
/** In calm, where a pause of 10 s may take 12 minutes. */
const wellInCalmMs = 30 * 60_000;
const calmStretch = 72;
/** Health answers within a second; a message takes up to 200 ms. */
const answeredWithinMs = 2_000;

type Host = {
  process: SimulatedProcess;
  /** Since when it has been running, and the monitor could reach it. */
  steadySinceMs: number;
  untroubledSinceMs: number;
  askedMs: number;
  /** The question before that one. */
  askedBeforeMs: number;
  said: string;
  notOkSinceMs: number | null;
  /** Whether something is wrong that it has to tell of, and since when that is so or not. */
  isWrong: boolean;
  changedMs: number;
};

type Answered = { askedMs: number; status: string; known: ReadonlyMap<string, number> };

export function createMonitor({
  process: monitor,
  plan,
  startMs,
  isCalm,
  report,
  history,
  ...world
}: World & {
  process: SimulatedProcess;
  plan: Plan;
  /** From when on the times of the plan are counted. */
  startMs: number;
  isCalm: () => boolean;
  report: Report;
  history: History;
}) {
  const { nodes, network, scheduler } = world;
  const truth = createWhatFails(world, () => (isCalm() ? calmStretch : plan.stretch));
  const hosts = new Map<string, Host>();
  let rowsReadMs = 0;
  // The sealer does not seal such a log any more.
  const hasRestore = plan.faults.some(({ kind }) => kind === 'restore');
  const names = nodes.names.filter((name) => nodes.roleOf(name) === 'http');

  function look(): void {
    const nowMs = scheduler.nowMs();
    truth.look(names);
    for (const name of names) {
      const process = nodes.process(name);
      const isSteady = process.state() === 'running' && network.lateMs(monitor.name, name) === 0;
      if (!isSteady) hosts.delete(name);
      else if (hosts.get(name)?.process !== process) hosts.set(name, newHost(process, nowMs));
      const host = hosts.get(name);
      if (!host) continue;
      const isWrong = truth.of(name).size > 0;
      if (isWrong !== host.isWrong) Object.assign(host, { isWrong, changedMs: nowMs });
      if (!truth.isUntroubled(name)) host.untroubledSinceMs = nowMs;
    }
  }

  function isDue({ askedMs, changedMs, isWrong, said }: Host): boolean {
    const nowMs = scheduler.nowMs();
    const isRight = isWrong === (said !== 'ok');
    const everyMs = (isRight ? askMs : askAgainMs)[isCalm() ? 'inCalm' : 'usual'];
    const isNews = askAfterMs.some((ms) => askedMs < changedMs + ms && nowMs >= changedMs + ms);
    return isNews || nowMs - askedMs >= everyMs;
  }

  async function tick(): Promise<void> {
    const nowMs = scheduler.nowMs();
    look();
    if (!isCalm() && nowMs - rowsReadMs >= rowsMs) await readRows();
    const due = [...hosts].filter(([, host]) => isDue(host));
    if (due.length > 0) await readRows();
    for (const [name, host] of due) send(name, host);
    const faults = plan.faults.map(({ atMs }) => startMs + atMs + 1 - nowMs).filter((inMs) => inMs > 0);
    const isNew = [...hosts.values()].some(({ changedMs }) => nowMs - changedMs < 2 * askAfterMs[1]);
    scheduler.after(isCalm() && !isNew ? Math.min(lookInCalmMs, ...faults) : lookMs, tick);
  }

  async function readRows(): Promise<void> {
    if (rowsReadMs === scheduler.nowMs()) return;
    rowsReadMs = scheduler.nowMs();
    await truth.readRows();
    look();
  }

  function send(name: string, host: Host): void {
    const askedMs = scheduler.nowMs();
    host.askedBeforeMs = host.askedMs;
    host.askedMs = askedMs;
    const known = truth.of(name);
    monitor.enter(() => {
      void ask(monitor, { host: name, path: '/api/v1/health', timeoutMs: 10_000 }).then((answer) => {
        const status = answer?.status === 200 ? JSON.parse(answer.body).status : 'silent';
        scheduler.after(0, () => judge(name, host, { askedMs, status, known }));
      });
    });
  }

  async function judge(name: string, host: Host, { askedMs, status, known }: Answered): Promise<void> {
    look();
    const isOk = status === 'ok';
    if (!isOk || known.size > 0) await readRows();
    if (hosts.get(name) !== host) return;
    const nowMs = scheduler.nowMs();
    const now = truth.of(name);
    if (host.said !== status) history.tell(`monitor: ${name} says ${status} (${[...now.keys()].join(', ')})`);
    host.said = status;
    host.notOkSinceMs = isOk ? null : (host.notOkSinceMs ?? nowMs);
    if (nowMs - askedMs > answeredWithinMs && host.steadySinceMs < askedMs - lookMs)
      report('slow-answer', name, `Health took ${nowMs - askedMs} ms`);
    for (const [what, sinceMs] of now) {
      const isTold = !isOk && (status !== 'degraded' || !outages.includes(what));
      const isAskedTwice = known.get(what) === sinceMs && sinceMs <= host.askedBeforeMs;
      const isOld = Math.max(sinceMs, host.steadySinceMs) <= askedMs - toldWithinMs;
      if (!isTold && isAskedTwice && isOld)
        report('health-lies', name, `It says ${status}, and for ${nowMs - sinceMs} ms: ${what}`);
    }
    const { notOkSinceMs, untroubledSinceMs, changedMs } = host;
    const notOkForMs = nowMs - Math.max(notOkSinceMs ?? nowMs, untroubledSinceMs, changedMs);
    const boundMs = isCalm() ? wellInCalmMs : wellWithinMs * plan.stretch;
    if (now.size === 0 && !hasRestore && notOkForMs > boundMs)
      report('health-cries-wolf', name, `It is ${status} for ${notOkForMs} ms, and nothing is wrong`);
  }

  return { start: () => void scheduler.after(0, tick) };
}

function newHost(process: SimulatedProcess, nowMs: number): Host {
  const since = { steadySinceMs: nowMs, untroubledSinceMs: nowMs, changedMs: nowMs, notOkSinceMs: null };
  return { process, ...since, askedMs: 0, askedBeforeMs: 0, said: '', isWrong: false };
}
