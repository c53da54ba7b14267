/** `ledger configuration`: prints the reference of all variables, which is content/docs/configuration.md. */
import { variableGroups } from '../config/variables.ts';
import type { CommandOf } from './command.ts';

const head = `---
title: Configuration
description: Every variable, its default and its meaning
category: Reference
order: 80
---

# Configuration

Printed by \`npx ledger configuration\`. An empty variable counts as not set. At boot every fault is named at once.
A variable marked \\* is secret: instead of it, the variable with \`_FILE\` at the end may name a file that holds the value.
Merchants and payment methods are in files of their own, see [Running it](running.md).
`;

export function configurationPage(): string {
  const groups = Object.entries(variableGroups).map(([title, group]) => {
    const rows = Object.entries(group).map(
      ([name, { fallback, otherwise, meaning, isSecret }]) =>
        `| \`${name}\`${isSecret ? ' \\*' : ''} | ${otherwise ?? `\`${fallback}\``} | ${meaning} |`,
    );
    return [`## ${title}`, '', '| variable | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return [head, ...groups].join('\n');
}

export const configuration: CommandOf<'configuration'> = async () => {
  const data = Object.values(variableGroups).flatMap((group) =>
    Object.entries(group).map(([name, variable]) => ({ name, ...variable })),
  );
  return { data, text: configurationPage().trimEnd() };
};
