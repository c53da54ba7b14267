/** What a command of the `ledger` program is, and how a long-running one lives and ends. */
import { constants, setPriority } from 'node:os';
import type { Log } from '../kernel/log.ts';

export type Options = Readonly<Record<string, { type: 'string' } | { type: 'boolean' }>>;

/** What was given of them; a boolean is true or was not given. */
export type Values<Of extends Options> = {
  readonly [Name in keyof Of]?: { string: string; boolean: boolean }[Of[Name]['type']];
};

/**
 * A command whose options are all texts is a plain `Command`; one with booleans, too, names its options' type, so that
 * each value has its own: `const options = { … } as const`, `Command<typeof options>`.
 */
export type Command<Of extends Options = Readonly<Record<string, { type: 'string' }>>> = {
  /** One line for `ledger help`. */
  summary: string;
  /** Its arguments, as `ledger help` shows them. */
  usage: string;
  options: Of;
  /** Whether it takes arguments that are no options. */
  takesArguments?: true;
  /** Resolves to the exit code. Throws UsageError when the arguments make no sense. */
  run(values: Values<Of>, args: readonly string[]): Promise<number>;
};

/** The command was called in a way it does not understand; its usage is shown with the message. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Something that was started and can be stopped, without cutting what is under way. */
export type Running = { stop(): Promise<void> };

/**
 * Runs until SIGTERM or SIGINT, then stops and resolves to exit code 0. A second signal ends the process at
 * once, as does a parent that is gone when it held an IPC channel.
 */
export async function runUntilSignal(log: Log, start: () => Promise<Running>): Promise<number> {
  const asked = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(1));
      asked.resolve(signal);
    });
  }
  const orphaned = () => asked.resolve('the end of the parent process');
  if (process.connected) process.once('disconnect', orphaned);
  else if (process.send) orphaned();
  const running = await start();
  log.info('started');
  const reason = await asked.promise;
  log.info({ reason }, 'stopping');
  await running.stop();
  log.info('stopped');
  if (process.connected) process.disconnect();
  return 0;
}

/** Stops parts in the reverse order of their start. One that fails keeps none from being stopped; the first failure is thrown. */
export async function stopAll(parts: readonly Running[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts.toReversed()) await part.stop().catch((error) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** From now on, what this process and its children write can be read by their own account alone. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}

/** From now on, this process has what the others leave of the processor: its work can wait, those who ask cannot. */
export function lowerPriority(): void {
  setPriority(constants.priority.PRIORITY_LOW);
}
