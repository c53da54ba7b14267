/** `ledger configuration`: prints the reference of all variables, which is content/docs/configuration.md. */
import { readFileSync } from 'node:fs';
import { variableGroups } from '../config/variables.ts';
import type { CommandOf } from './command.ts';

const introduction = readFileSync(
  new URL('../../content/configuration-introduction.md', import.meta.url),
  'utf8',
);

export function configurationPage(): string {
  const groups = Object.entries(variableGroups).map(([title, group]) => {
    const rows = Object.entries(group).map(
      ([name, { fallback, otherwise, meaning, isSecret }]) =>
        `| \`${name}\`${isSecret ? ' \\*' : ''} | ${otherwise ?? `\`${fallback}\``} | ${meaning} |`,
    );
    return [`## ${title}`, '', '| variable | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return [introduction, ...groups].join('\n');
}

export const command: CommandOf<'configuration'> = async () => {
  const data = Object.values(variableGroups).flatMap((group) =>
    Object.entries(group).map(([name, variable]) => ({ name, ...variable })),
  );
  return { data, text: configurationPage().trimEnd() };
};
