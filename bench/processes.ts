// What processes cost: CPU time and memory, as Linux counts them.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** CLK_TCK of Linux: 100 a second. */
const tickMs = 10;

export const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** CPU time of a process and all its descendants, those that have ended included, in ms. */
export function cpuMsOf(...pids: readonly (number | undefined)[]): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const fields = read(`/proc/${name}/stat`)
          .replace(/^.*\) /s, '')
          .split(' ');
        const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
        return fields.length > 15 ? [[Number(name), { parent: Number(fields[1]), ticks }] as const] : [];
      }),
  );
  const isOf = (pid: number): boolean =>
    pids.includes(pid) || ((all.get(pid)?.parent ?? 0) > 1 && isOf(all.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, each] of all) if (isOf(pid)) ticks += each.ticks;
  return ticks * tickMs;
}

/** Memory of a process and its descendants in MB; pages that they share count once. */
export function memoryOf(pid: number | undefined): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (name) =>
        Number(
          read(`/proc/${name}/stat`)
            .replace(/^.*\) /s, '')
            .split(' ')[1],
        ) === pid,
    );
  const [, own = '0'] = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`)) ?? [];
  return Number(own) / 1000 + children.reduce((sum, child) => sum + memoryOf(Number(child)), 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}

/** Options of Node that write a CPU profile when the process ends: BENCH_PROFILE=<folder> npm run bench life */
function profile(name: string): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`] : [];
}

/** Starts a module that reports `{ port }` once it listens. */
export async function startModule(
  file: string,
  args: readonly string[],
  execArgv: readonly string[] = [],
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(path(file), args, { execArgv: [...execArgv, ...profile(file)] });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof message !== 'object' || message === null) throw new Error(`${file} did not start`);
  return { child, port: message.port };
}

/** Starts a command of the ledger; its log goes nowhere, but is written. */
export function startLedgerProcess(
  command: string,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeOptions, ...profile(command), path('../src/ledger.js'), command], {
    env: { PATH: process.env.PATH, ...env },
    // It ends when this process does.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
