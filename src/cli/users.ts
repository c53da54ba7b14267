/** `ledger users`: staff add a user. */
import { createExecute } from '../commands/execute.ts';
import { readFields } from '../commands/fields.ts';
import { NewUser, userDecider, userIdOf } from '../commands/user.ts';
import { readUserEvent } from '../events/recorded.ts';
import { userStream } from '../events/user.ts';
import { type Command, UsageError } from './command.ts';
import { asStaff, staffCause } from './staff.ts';

export const users: Command = {
  summary: 'adds a user',
  usage: 'add --name NAME --email ADDRESS [--role admin|member|viewer]',
  options: { name: { type: 'string' }, email: { type: 'string' }, role: { type: 'string' } },
  takesArguments: true,
  async run(values, args) {
    if (args.join(' ') !== 'add') throw new UsageError('The one thing to do with users here is to add one');
    return asStaff(async (eventStore, { transactionIdKey }) => {
      const user = readFields(values, NewUser);
      const id = userIdOf(transactionIdKey, user.email);
      const execute = createExecute({ eventStore, decider: userDecider, read: readUserEvent });
      await execute(
        userStream(id),
        { type: 'CreateUser', at: new Date().toISOString(), id, user },
        staffCause(),
        { creates: true },
      );
      return `User ${id} is added.`;
    });
  },
};
