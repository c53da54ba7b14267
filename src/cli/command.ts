/**
 * What a command of the `ledger` program is, how it reads days, times and names as people type them, and where its document
 * goes: the terminal, or a file that `--output` names.
 */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { faultOfFile } from '@ledger/kernel/readable-file.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { boundsOfDay, parseAsOf, readSpan } from '../common/malaysian-time.ts';
import type { CommandName, Declarations } from './help.ts';

/** The values of the options that were given: a text, or true for an option that takes none. */
type ValuesOf<Options> = {
  readonly [Name in keyof Options]?: Options[Name] extends { value: string } ? string : boolean;
};

/** What a command found or did: `text` for people, `data` for programs (--json). The exit code is 0 if none is given. */
export type Report = { data: unknown; text: string; exitCode?: number };

/** An exit code alone: the command has said what there is to say, or failed. */
export type Outcome = number | Report;

/** Writes a document to the terminal, or to the file that `--output` names. Resolves to the exit code. */
type WriteDocument = (pieces: AsyncIterable<string | Uint8Array>) => Promise<0>;

/** Throws UsageError when the arguments are wrong. A command with `--output` is given the function that writes there. */
export type CommandOf<Name extends CommandName> = (
  values: ValuesOf<Declarations[Name]['options']>,
  args: readonly string[],
  ...document: 'output' extends keyof Declarations[Name]['options'] ? [write: WriteDocument] : []
) => Promise<Outcome>;

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

/** The as-of time: the end of a day, never later than now, and now if no day is given. */
export function readAsOf(name: string, text: string | undefined): Date {
  const now = systemRuntime.now();
  const asOf = text === undefined ? now : parseAsOf(text, now);
  if (!asOf) throw new UsageError(`--${name} ${timeForms}`);
  return asOf;
}

/** The only argument of a command; `otherwise` is the message when there is none or more than one. */
export function readArgument([value = '', ...more]: readonly string[], otherwise: string): string {
  if (value === '' || more.length > 0) throw new UsageError(otherwise);
  return value;
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

/**
 * A file is first written under another name, and renamed once it is completely on disk, so that an interrupted one is
 * never mistaken for a complete one. Only this account can read it. Throws UsageError at once when it exists, because it
 * is never overwritten.
 */
export function openOutput(path: string | undefined): WriteDocument {
  if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists and is not overwritten`);
  return async (pieces) => {
    if (path === undefined) await pipeline(pieces, process.stdout, { end: false });
    else await writeWhole(pieces, path);
    return 0;
  };
}

async function writeWhole(pieces: AsyncIterable<string | Uint8Array>, path: string): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await pipeline(pieces, file.createWriteStream({ flush: true }));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
