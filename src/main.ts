/** The command line: `ledger <command>`. The long-running commands are in src/roles, all others in src/cli. */
import { parseArgs } from 'node:util';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { type CommandOf, type Outcome, UsageError } from './cli/command.ts';
import {
  argumentsOf,
  type CommandName,
  didYouMean,
  helpOn,
  helpOnAll,
  isCommand,
  usageOf,
} from './cli/help.ts';

/** Each command is imported only when it is called, because most need only a small part of the program. */
const commands: { readonly [Name in CommandName]: () => Promise<CommandOf<Name>> } = {
  serve: async () => (await import('./roles/serve.ts')).serve,
  http: async () => (await import('./roles/http.ts')).http,
  projections: async () => (await import('./roles/projections.ts')).projections,
  reactors: async () => (await import('./roles/reactors.ts')).reactors,
  eventstore: async () => (await import('./roles/eventstore.ts')).eventstore,
  status: async () => (await import('./cli/status.ts')).status,
  load: async () => (await import('./cli/load.ts')).load,
  'send-again': async () => (await import('./cli/send-again.ts')).sendAgain,
  merchants: async () => (await import('./cli/merchants.ts')).merchants,
  users: async () => (await import('./cli/users.ts')).users,
  projects: async () => (await import('./cli/projects.ts')).projects,
  history: async () => (await import('./cli/history.ts')).history,
  proof: async () => (await import('./cli/proof.ts')).proof,
  erase: async () => (await import('./cli/erase.ts')).erase,
  'subject-access': async () => (await import('./cli/subject-access.ts')).subjectAccess,
  backup: async () => (await import('./cli/backup.ts')).backup,
  restore: async () => (await import('./cli/restore.ts')).restore,
  keys: async () => (await import('./cli/keys.ts')).keys,
  export: async () => (await import('./cli/export.ts')).exportPayments,
  verify: async () => (await import('./cli/verify.ts')).verify,
  rebuild: async () => (await import('./cli/rebuild.ts')).rebuild,
  balances: async () => (await import('./cli/balances.ts')).balances,
  statement: async () => (await import('./cli/statement.ts')).statement,
  reconcile: async () => (await import('./cli/reconcile.ts')).reconcile,
  settle: async () => (await import('./cli/settle.ts')).settle,
  account: async () => (await import('./cli/account.ts')).account,
  database: async () => (await import('./cli/database.ts')).database,
  seals: async () => (await import('./cli/seals.ts')).seals,
  witness: async () => (await import('./cli/witness.ts')).witness,
  configuration: async () => (await import('./cli/configuration.ts')).configuration,
};

async function main(): Promise<number> {
  const [name = 'help', ...args] = process.argv.slice(2);
  if (['help', '--help', '-h'].includes(name)) {
    process.stdout.write(helpOnAll());
    return 0;
  }
  if (['version', '--version', '-v'].includes(name)) {
    const { default: program } = await import('../package.json', { with: { type: 'json' } });
    process.stdout.write(`${program.version}\n`);
    return 0;
  }
  if (!isCommand(name)) {
    const suggestion = await didYouMean(name, Object.keys(commands));
    process.stderr.write(`Unknown command ${name}${suggestion}\n\n${helpOnAll()}`);
    return 2;
  }
  try {
    const { values, positionals } = await readArgs(name, args);
    const { help, ...options } = values;
    if (!help) {
      const run = (await commands[name]()) as CommandOf<never>;
      return show(await run(options as never, positionals), options.json);
    }
    process.stdout.write(helpOn(name));
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
    return parseArgs({ args, ...takes });
  } catch (error) {
    const reason = reasonOf(error);
    const [, unknown] = /^Unknown option '-+([^']*)'/.exec(reason) ?? [];
    const suggestion =
      unknown === undefined ? '' : await didYouMean(unknown, Object.keys(takes.options), '--');
    throw new UsageError(reason + suggestion);
  }
}

/** Prints what a command reports; returns the exit code. */
function show(outcome: Outcome, asJson: unknown): number {
  if (typeof outcome === 'number') return outcome;
  const { data, exitCode = 0, text } = outcome;
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  const shown = asJson ? JSON.stringify(data, plain, 2) : text;
  if (shown !== '') process.stdout.write(`${shown}\n`);
  return exitCode;
}

// When the reader closes the pipe (`| head`), ends without an error message, as other programs do.
process.stdout.on('error', (error) => {
  if (Reflect.get(error, 'code') !== 'EPIPE') throw error;
  process.exit(141);
});

try {
  process.exitCode = await main();
} catch (error) {
  const { exitCodeOf, failureText } = await import('./cli/failure-text.ts');
  process.stderr.write(`${failureText(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
