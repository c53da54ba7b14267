/** What a command of the `ledger` program is, and how it reads days, times and names as people type them. */
import { faultOfFile } from '@ledger/kernel/readable-file.ts';
import type { InvalidFields } from '../commands/fields.ts';
import { boundsOfDay, parseAsOf, readSpan } from '../common/malaysian-time.ts';
import type { CommandName, Declarations } from './help.ts';

/** The values of the options that were given: a text, or true for an option that takes none. */
type ValuesOf<Options> = {
  readonly [Name in keyof Options]?: Options[Name] extends { value: string } ? string : boolean;
};

/** What a command found or did: `text` for people, `data` for programs (--json). The exit code is 0 if none is given. */
export type Report = { data: unknown; text: string; exitCode?: number };

/** An exit code alone: the command has said what there is to say, or failed. */
export type CommandOutcome = number | Report;

/** Writes a document to the terminal, or to the file that `--output` names. Resolves to the exit code. */
export type WriteDocument = (pieces: AsyncIterable<string | Uint8Array>) => Promise<0>;

/** Throws UsageError when the arguments are wrong. A command with `--output` is given the function that writes there. */
export type CommandOf<Name extends CommandName> = (
  values: ValuesOf<Declarations[Name]['options']>,
  args: readonly string[],
  ...document: 'output' extends keyof Declarations[Name]['options'] ? [write: WriteDocument] : []
) => Promise<CommandOutcome>;

/** The arguments are wrong; the message is shown with the command's usage. */
export class UsageError extends Error {
  override name = 'UsageError';
}

const timeForms = 'must be a day such as 2026-11-20 or a time such as 2026-11-20T09:00:00+08:00';

/**
 * The values of --from and --to in UTC, null where not given. A day means from its beginning, or to its end; a time
 * without an offset is Malaysian time.
 */
export function readRange({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  const bound = (name: 'from' | 'to', text: string | undefined) => {
    if (text === undefined) return null;
    const span = readSpan(text);
    if (!span) throw new UsageError(`--${name} ${timeForms}`);
    return name === 'from' ? span.start : span.end;
  };
  return { from: bound('from', from), to: bound('to', to) };
}

export function readDay(name: string, text = ''): string {
  if (!boundsOfDay(text)) throw new UsageError(`--${name} must be a date such as 2026-11-20`);
  return text;
}

/** The as-of time at a given present: the end of a day, never later than now, and now if no day is given. */
export function readAsOf(name: string, text: string | undefined): (now: Date) => Date {
  if (text === undefined) return (now) => now;
  if (!parseAsOf(text, new Date(0))) throw new UsageError(`--${name} ${timeForms}`);
  return (now) => parseAsOf(text, now) ?? now;
}

/** The only argument of a command; `otherwise` is the message when there is none or more than one. */
export function readArgument([value = '', ...more]: readonly string[], otherwise: string): string {
  if (value === '' || more.length > 0) throw new UsageError(otherwise);
  return value;
}

/** The value of --port; 0 is any that is free. */
export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError('--port must be a number from 0 to 65535');
  return Number(text);
}

/** The faults in the fields of a request, which are options here. */
export function asUsageError({ faults }: InvalidFields): UsageError {
  const texts = faults.map((each) => (typeof each === 'string' ? each : `--${each.join(' ')}`));
  return new UsageError(texts.join('; '));
}

/** The path of a file that somebody named. Throws UsageError if it cannot be read. */
export function readableFile(path: string): string {
  const fault = faultOfFile(path);
  if (fault !== null) throw new UsageError(`${path} ${fault}`);
  return path;
}

export function readChoice<Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const choice = text === undefined ? choices[0] : choices.find((each) => each === text);
  if (choice === undefined) throw new UsageError(`--${name} must be ${choices.join(' or ')}`);
  return choice;
}
