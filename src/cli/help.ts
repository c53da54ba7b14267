/** What content/commands.json declares of the commands, and the help that is made of it. */
import declarations from '../../content/commands.json' with { type: 'json' };

/** The options that each command takes, with a value or without. */
export type Declarations = typeof declarations;
export type CommandName = keyof Declarations;

type Declaration = {
  summary: string;
  usage: readonly string[];
  options: Readonly<Record<string, { value?: string; meaning: string }>>;
  examples: readonly string[];
  exitCodes: Readonly<Record<string, string>>;
  takesArguments?: boolean;
  /** What `--json` prints; without it, the command has no such option. */
  json?: string;
};

const commands: Readonly<Record<CommandName, Declaration>> = declarations;

const exitCodes = {
  '0': 'done',
  '1': 'failed or refused',
  '2': 'wrong arguments',
  '75': 'a store does not answer: try again later',
  '78': 'wrong configuration',
};

export const commandNames = Object.keys(commands);

export const isCommand = (name: string): name is CommandName => Object.hasOwn(commands, name);

/** The options for `parseArgs` of node:util. (Commander and citty are both larger than what they would replace.) */
export function argumentsOf(name: CommandName) {
  const { json, options: declared, takesArguments = false } = commands[name];
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
    ...(json !== undefined && { json: { type: 'boolean' } }),
  };
  for (const [option, { value }] of Object.entries(declared))
    options[option] = { type: value === undefined ? 'boolean' : 'string' };
  return { options, strict: true, allowPositionals: takesArguments };
}

/** One line, for wrong arguments. */
export const usageOf = (name: CommandName) => `ledger ${name} ${commands[name].usage.join(' | ')}`;

// Templates are loaded for the help alone: no other command would need them to start.
const text = async (template: string, model: object) =>
  `${(await import('../common/templates.ts')).renderText(template, model)}\n`;

export function helpOn(name: CommandName): Promise<string> {
  const command = commands[name];
  return text('help.txt', { name, ...command, exitCodes: { ...exitCodes, ...command.exitCodes } });
}

export const helpOnAll = (): Promise<string> => text('help-on-all.txt', { commands });

/** A question to follow what was typed; empty if none of the names is near to it. */
export async function didYouMean(typed: string, names: readonly string[], mark = ''): Promise<string> {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({ fields: ['name'], idField: 'name' });
  index.addAll(names.map((name) => ({ name })));
  const [nearest] = index.search(typed, { fuzzy: 0.4, prefix: true });
  return nearest ? `. Did you mean ${mark}${nearest.id}?` : '';
}
