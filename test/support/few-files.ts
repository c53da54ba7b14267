/** A program that runs out of files it can open, as a process does in a flood of connections. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const prelude = `
  import { closeSync, openSync } from 'node:fs';
  const opened = [];
  const exhaust = () => { try { for (;;) opened.push(openSync('/dev/null')); } catch {} };
  const recover = () => opened.splice(0).forEach((file) => closeSync(file));`;

/**
 * Runs the program, which may open 64 files, in a process of its own: after `exhaust()` it can open none until
 * `recover()`. Resolves to the lines that it printed.
 */
export async function runWithFewFiles(program: string): Promise<string[]> {
  const args = ['--input-type=module', '--eval', `${prelude}\n${program}`];
  const limited = ['-c', 'ulimit -n 64 && exec "$0" "$@"', process.execPath, ...args];
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await promisify(execFile)('sh', limited, {
    cwd,
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  return stdout.trim().split('\n');
}
