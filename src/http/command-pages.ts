/** A page of the documentation for each command, made of what its help is made of. */
import commands from '../../content/commands.json' with { type: 'json' };

type Command = {
  summary: string;
  usage: readonly string[];
  options: Readonly<Record<string, { value?: string; meaning: string }>>;
  json?: string;
  examples: readonly string[];
  exitCodes: Readonly<Record<string, string>>;
};

/** As content files, in the order of the help. */
export const commandPages = () =>
  Object.entries<Command>(commands).map(([name, command], index) => ({
    file: `commands/${name}.md`,
    source: pageOf(name, command, index),
  }));

function pageOf(name: string, command: Command, order: number): string {
  const { summary, usage, options, json, examples, exitCodes } = command;
  const description = summary.charAt(0).toUpperCase() + summary.slice(1);
  const shell = (lines: readonly string[]) => ['```sh', ...lines, '```'].join('\n');
  const option = (title: string, meaning: string) => `| \`${title}\` | ${meaning} |`;
  return [
    `---\ntitle: ledger ${name}\ndescription: ${JSON.stringify(description)}\ncategory: Commands\norder: ${order}\n---`,
    shell(usage.map((form) => `npx ledger ${name} ${form}`.trimEnd())),
    [
      '| option | meaning |\n|---|---|',
      ...Object.entries(options).map(([key, { value = '', meaning }]) =>
        option(`--${key} ${value}`.trimEnd(), meaning),
      ),
      ...(json === undefined ? [] : [option('--json', `as JSON: \`${json}\``)]),
      option('--help', 'all of this, on the terminal'),
    ].join('\n'),
    `## Examples\n\n${shell(examples.map((example) => example.replace('ledger ', 'npx ledger ')))}`,
    '## Exit codes',
    [
      ...Object.entries(exitCodes).map(([code, meaning]) => `- ${code}: ${meaning}`),
      '- All others are those of [every command](../command-line.md#exit-codes).',
    ].join('\n'),
  ].join('\n\n');
}
