// Runs one `ledger` command after another in one process: what takes longest with most of them is loading the program.
// A message brings arguments and variables. The answer is the exit code, when the command has ended; before it, a mark
// on both outputs says that this command prints nothing more. The process ends with its channel, unless a command has
// left something open.
import { fileURLToPath } from 'node:url';
import type { LedgerCall } from './ledger.ts';

const main = new URL('../../src/main.ts', import.meta.url);
const kept = ['PATH', 'NODE_COMPILE_CACHE', 'NODE_DISABLE_COMPILE_CACHE'];
const ownEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => kept.includes(name)),
);
const [endOfOutput = ''] = process.argv.slice(2);
const signals = ['SIGINT', 'SIGTERM'] as const;
const outputs = [process.stdout, process.stderr];
let calls = 0;

process.on('message', async ({ args, environment }: LedgerCall) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, ownEnvironment, environment);
  process.argv = [process.execPath, fileURLToPath(main), ...args];
  process.exitCode = undefined;
  const ofOutput = outputs.flatMap((output) => output.listeners('error'));
  const ofSignals = signals.flatMap((signal) => process.listeners(signal));
  calls += 1;
  // Only this module runs again: all that it imports stays loaded.
  await import(`${main}?call=${calls}`);
  // In a process of its own they would end with the command.
  for (const output of outputs)
    for (const listener of output.listeners('error'))
      if (!ofOutput.includes(listener)) output.off('error', listener as () => void);
  for (const signal of signals)
    for (const listener of process.listeners(signal))
      if (!ofSignals.includes(listener)) process.off(signal, listener);
  process.stdout.write(endOfOutput);
  process.stderr.write(endOfOutput);
  process.send?.(process.exitCode ?? 0);
  process.exitCode = 0;
});
