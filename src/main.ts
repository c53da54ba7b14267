#!/usr/bin/env node
/** The command line: `ledger <command>`. Each command is a file in src/cli. */
import { parseArgs } from 'node:util';
import { account } from './cli/account.ts';
import { balances } from './cli/balances.ts';
import { type Command, type Options, UsageError } from './cli/command.ts';
import { configuration } from './cli/configuration.ts';
import { eventstore } from './cli/eventstore.ts';
import { exportPayments } from './cli/export.ts';
import { failureText } from './cli/failure-text.ts';
import { history } from './cli/history.ts';
import { http } from './cli/http.ts';
import { merchants } from './cli/merchants.ts';
import { projections } from './cli/projections.ts';
import { projects } from './cli/projects.ts';
import { reactors } from './cli/reactors.ts';
import { rebuild } from './cli/rebuild.ts';
import { reconcile } from './cli/reconcile.ts';
import { seals } from './cli/seals.ts';
import { sendAgain } from './cli/send-again.ts';
import { serve } from './cli/serve.ts';
import { statement } from './cli/statement.ts';
import { users } from './cli/users.ts';
import { verify } from './cli/verify.ts';

const commands: Readonly<Record<string, Command<Options>>> = {
  serve,
  http,
  projections,
  reactors,
  eventstore,
  'send-again': sendAgain,
  merchants,
  users,
  projects,
  history,
  export: exportPayments,
  verify,
  rebuild,
  balances,
  statement,
  reconcile,
  account,
  seals,
  configuration,
};

async function main(): Promise<number> {
  const [name = 'help', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const asked = ['help', '--help', '-h'].includes(name);
    const out = asked ? process.stdout : process.stderr;
    out.write(`${asked ? '' : `Unknown command ${name}\n\n`}ledger <command>\n\n${list()}`);
    return asked ? 0 : 2;
  }
  try {
    const { values, positionals } = readArgs(command, args);
    return await command.run(values, positionals);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\nledger ${name} ${command.usage}\n`);
    return 2;
  }
}

/** The commands in two columns; a long usage has its summary below it. */
function list(): string {
  const columnWidth = 28;
  const lines = Object.entries(commands).map(([name, { usage, summary }]) => {
    const call = `  ${name} ${usage}`.trimEnd();
    const gap =
      call.length < columnWidth ? ' '.repeat(columnWidth - call.length) : `\n${' '.repeat(columnWidth)}`;
    return `${call}${gap}${summary}\n`;
  });
  return lines.join('');
}

function readArgs({ options, takesArguments }: Command<Options>, args: string[]) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: takesArguments === true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

// Whoever closes the pipe (`| head`) reads no more: as other programs do, this one ends at that without a word.
process.stdout.on('error', (error) => {
  if (Reflect.get(error, 'code') !== 'EPIPE') throw error;
  process.exit(141);
});

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${failureText(error)}\n`);
  process.exitCode = 1;
}
