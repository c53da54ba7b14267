/** `ledger users`: staff add users, who may then sign in to the console, change what they may do, and shut them out. */
import { createExecute } from '../commands/execute.ts';
import { email, oneOf, readFields } from '../commands/fields.ts';
import { NewUser, type UserCommand, userDecider, userIdOf } from '../commands/user.ts';
import type { Config } from '../config/config.ts';
import { readUserEvent } from '../events/codec.ts';
import { type Account, evolveUser, roles, userStream, userStreamPrefix } from '../events/user.ts';
import type { EventStore } from '../eventstore/event-store.ts';
import { maskable } from '../kernel/structs.ts';
import { type Command, UsageError } from './command.ts';
import { asStaff, staffCause } from './staff.ts';

const Addressed = maskable({ email });
const WithRole = maskable({ email, role: oneOf(roles) });

type Options = { readonly name?: string; readonly email?: string; readonly role?: string };

type Action = (eventStore: EventStore, config: Config, options: Options) => Promise<string>;

const actions: Readonly<Record<string, Action>> = {
  async add(eventStore, config, options) {
    const user = readFields({ ...options, name: options.name ?? nameFrom(options.email) }, NewUser);
    const id = await give(eventStore, config, user.email, (id) => ({
      type: 'CreateUser',
      at: now(),
      id,
      user,
    }));
    return `User ${id} is added.`;
  },
  async role(eventStore, config, options) {
    const { email: address, role } = readFields(options, WithRole);
    const id = await give(eventStore, config, address, () => ({
      type: 'ChangeUserRole',
      at: now(),
      by: null,
      role,
    }));
    return `User ${id} is ${role} from now on.`;
  },
  async deactivate(eventStore, config, options) {
    const { email: address } = readFields(options, Addressed);
    const id = await give(eventStore, config, address, () => ({
      type: 'DeactivateUser',
      at: now(),
      by: null,
    }));
    return `User ${id} is deactivated: every session stops at its next request.`;
  },
  async reactivate(eventStore, config, options) {
    const { email: address } = readFields(options, Addressed);
    const id = await give(eventStore, config, address, () => ({
      type: 'ReactivateUser',
      at: now(),
      by: null,
    }));
    return `User ${id} may sign in again.`;
  },
  async list(eventStore) {
    const accounts = await allAccounts(eventStore);
    const line = ({ active, email: address, id, name, role }: Account) =>
      [id, role.padEnd(6), active ? 'active     ' : 'deactivated', address, name].join('  ');
    return accounts.length > 0 ? accounts.map(line).join('\n') : 'There is no user yet.';
  },
};

export const users: Command = {
  summary: 'adds a user, changes the role, shuts out, lets in again, or lists all',
  usage:
    'add --email ADDRESS [--role admin|member|viewer] [--name NAME] | role --email ADDRESS --role ROLE | deactivate --email ADDRESS | reactivate --email ADDRESS | list',
  options: { name: { type: 'string' }, email: { type: 'string' }, role: { type: 'string' } },
  takesArguments: true,
  async run(values, [name = '', ...more]) {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action || more.length > 0)
      throw new UsageError(`What to do with users is one of ${Object.keys(actions).join(', ')}`);
    return asStaff((eventStore, config) => action(eventStore, config, values));
  },
};

const now = () => new Date().toISOString();

/** What stands before the @ is what colleagues call each other by; a single letter is no name. */
function nameFrom(address: string | undefined): string | undefined {
  const [local = ''] = address?.split('@') ?? [];
  return local.length > 1 ? local : address;
}

/** Resolves to the user's id. Throws Refused. */
async function give(
  eventStore: EventStore,
  { transactionIdKey }: Config,
  address: string,
  command: (id: string) => UserCommand,
): Promise<string> {
  const id = userIdOf(transactionIdKey, address);
  const execute = createExecute({ eventStore, decider: userDecider });
  const given = command(id);
  await execute(userStream(id), given, staffCause(), { creates: given.type === 'CreateUser' });
  return id;
}

/** From the log itself, so that it works where Postgres does not. In the order in which they were added. */
async function allAccounts(eventStore: EventStore): Promise<Account[]> {
  const accounts = new Map<string, Account | null>();
  const asked = new AbortController();
  const all = { streamPrefixes: [userStreamPrefix], after: null, signal: asked.signal };
  for await (const message of eventStore.subscribe(all)) {
    if (message.kind === 'caught_up') break;
    if (message.kind !== 'event') continue;
    const { streamName } = message.event;
    accounts.set(streamName, evolveUser(accounts.get(streamName) ?? null, readUserEvent(message.event)));
  }
  return [...accounts.values()].filter((account) => account !== null);
}
