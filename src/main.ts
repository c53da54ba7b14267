#!/usr/bin/env node
/** The command line: `ledger <command>`. Each command is a file in src/cli. */
import { parseArgs } from 'node:util';
import type { Command } from './cli/command.ts';
import { eventstore } from './cli/eventstore.ts';
import { http } from './cli/http.ts';
import { projections } from './cli/projections.ts';
import { serve } from './cli/serve.ts';
import { ConfigError } from './config/config-error.ts';

const commands: Readonly<Record<string, Command>> = { serve, http, projections, eventstore };

async function main(): Promise<number> {
  const [name = 'help', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const asked = ['help', '--help', '-h'].includes(name);
    const list = Object.entries(commands).map(
      ([it, { usage, summary }]) => `  ${`${it} ${usage}`.padEnd(38)}${summary}`,
    );
    const out = asked ? process.stdout : process.stderr;
    out.write(`${asked ? '' : `Unknown command ${name}\n\n`}ledger <command>\n\n${list.join('\n')}\n`);
    return asked ? 0 : 2;
  }
  let values: Record<string, string | undefined>;
  try {
    values = parseArgs({ args, options: command.options, strict: true }).values as typeof values;
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : error}\nledger ${name} ${command.usage}\n`,
    );
    return 2;
  }
  return command.run(values);
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
