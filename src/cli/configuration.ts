/** `ledger configuration`: prints the reference of all variables, which is content/docs/configuration.md. */
import { renderText } from '../common/templates.ts';
import { variableGroups } from '../config/environment-reader.ts';
import type { CommandOf } from './command.ts';

export const command: CommandOf<'configuration'> = async () => {
  const data = Object.values(variableGroups).flatMap((group) =>
    Object.entries(group).map(([name, variable]) => ({ name, ...variable })),
  );
  return { data, text: renderText('configuration.md', { groups: variableGroups }) };
};
