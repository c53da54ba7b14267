/** A page of the documentation for each command, made of what its help is made of. */
import commands from '../../content/commands.json' with { type: 'json' };
import { renderText } from '../common/templates.ts';

/** The commands as content files, in the order of the help. */
export const commandPages = () =>
  Object.entries(commands).map(([name, command], order) => ({
    file: `commands/${name}.md`,
    source: renderText('command.md', { name, order, ...command }),
  }));
