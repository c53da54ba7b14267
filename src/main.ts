#!/usr/bin/env node
/** The command line: `ledger <command>`. Each command is a file in src/cli. */
import { parseArgs } from 'node:util';
import { type Command, UsageError } from './cli/command.ts';
import { eventstore } from './cli/eventstore.ts';
import { http } from './cli/http.ts';
import { merchants } from './cli/merchants.ts';
import { projections } from './cli/projections.ts';
import { projects } from './cli/projects.ts';
import { reactors } from './cli/reactors.ts';
import { sendAgain } from './cli/send-again.ts';
import { serve } from './cli/serve.ts';
import { users } from './cli/users.ts';
import { ConfigError } from './config/config-error.ts';

const commands: Readonly<Record<string, Command>> = {
  serve,
  http,
  projections,
  reactors,
  eventstore,
  'send-again': sendAgain,
  merchants,
  users,
  projects,
};

async function main(): Promise<number> {
  const [name = 'help', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const asked = ['help', '--help', '-h'].includes(name);
    const list = Object.entries(commands).map(
      ([it, { usage, summary }]) => `  ${`${it} ${usage}`.padEnd(45)} ${summary}`,
    );
    const out = asked ? process.stdout : process.stderr;
    out.write(`${asked ? '' : `Unknown command ${name}\n\n`}ledger <command>\n\n${list.join('\n')}\n`);
    return asked ? 0 : 2;
  }
  try {
    const { values, positionals } = readArgs(command, args);
    return await command.run(values as Record<string, string | undefined>, positionals);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nledger ${name} ${command.usage}\n`);
    return 2;
  }
}

function readArgs({ options, takesArguments }: Command, args: string[]) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: takesArguments === true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  // A fault of configuration or of the machine is a sentence for a person; anything else is a bug and shows its stack.
  const expected = error instanceof ConfigError || (error instanceof Error && 'code' in error);
  process.stderr.write(
    `${expected ? (error as Error).message : error instanceof Error ? error.stack : error}\n`,
  );
  process.exitCode = 1;
}
