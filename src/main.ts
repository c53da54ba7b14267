/** The command line: `ledger <command>`. Each command of content/commands.json is the file of its name, in src/roles or src/cli. */
import { parseArgs } from 'node:util';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { type CommandOf, type CommandOutcome, UsageError } from './cli/command.ts';
import {
  argumentsOf,
  type CommandName,
  commandNames,
  didYouMean,
  helpOn,
  helpOnAll,
  isCommand,
  usageOf,
} from './cli/help.ts';
import { openOutput } from './cli/output.ts';

/** These commands run until they are stopped; their files are in src/roles. */
const roles = ['serve', 'http', 'projections', 'reactors', 'eventstore'];

async function main(): Promise<number> {
  const [name = 'help', ...args] = process.argv.slice(2);
  if (['help', '--help', '-h'].includes(name)) {
    process.stdout.write(await helpOnAll());
    return 0;
  }
  if (['version', '--version', '-v'].includes(name)) {
    const { default: program } = await import('../package.json', { with: { type: 'json' } });
    process.stdout.write(`${program.version}\n`);
    return 0;
  }
  if (!isCommand(name)) {
    const suggestion = await didYouMean(name, commandNames);
    process.stderr.write(`Unknown command ${name}${suggestion}\n\n${await helpOnAll()}`);
    return 2;
  }
  try {
    const { values, positionals } = await readArgs(name, args);
    const { help, ...options } = values;
    if (!help) {
      // Imports the file of this command alone, because most need only a small part of the program. A test imports all.
      const file = `./${roles.includes(name) ? 'roles' : 'cli'}/${name}.ts`;
      const { command }: { command: CommandOf<'export'> } = await import(file);
      const write = openOutput(typeof options.output === 'string' ? options.output : undefined);
      return show(await command(options, positionals, write), options.json);
    }
    process.stdout.write(await helpOn(name));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${usageOf(name)}\n`);
    return 2;
  }
}

async function readArgs(name: CommandName, args: string[]) {
  const takes = argumentsOf(name);
  try {
    const { tokens, ...read } = parseArgs({ args, ...takes, tokens: true });
    const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const again = given.find((option, index) => given.indexOf(option) < index);
    if (again !== undefined) throw new UsageError(`--${again} may be given only once`);
    return read;
  } catch (error) {
    const reason = reasonOf(error);
    const [, unknown] = /^Unknown option '-+([^']*)'/.exec(reason) ?? [];
    const suggestion =
      unknown === undefined ? '' : await didYouMean(unknown, Object.keys(takes.options), '--');
    throw new UsageError(reason + suggestion);
  }
}

/** Prints what a command reports; returns the exit code. */
function show(outcome: CommandOutcome, asJson: unknown): number {
  if (typeof outcome === 'number') return outcome;
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  const shown = asJson ? JSON.stringify(outcome.data, plain, 2) : outcome.text;
  if (shown !== '') process.stdout.write(`${shown}\n`);
  return outcome.exitCode ?? 0;
}

// When the reader closes the pipe (`| head`), ends without an error message, as other programs do.
process.stdout.on('error', (error) => {
  const isClosed = Reflect.get(error, 'code') === 'EPIPE';
  if (!isClosed) process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(isClosed ? 141 : 1);
});
// Progress and remarks that nobody reads (`2>&1 | head`) do not end what is under way.
process.stderr.on('error', () => {});

try {
  process.exitCode = await main();
} catch (error) {
  const { exitCodeOf, failureText } = await import('./cli/failure-text.ts');
  process.stderr.write(`${failureText(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
// What it began is complete, and a frozen store never confirms the end of a connection, which would keep the process.
if (roles.includes(process.argv[2] ?? '')) process.exit();
