/** `ledger users`: who may sign in to the console, in which role, and with which passkeys. */
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { eventsToEnd } from '@ledger/event-store/events-to-end.ts';
import { maskable } from '@ledger/kernel/structs.ts';
import { createExecute } from '../commands/execute.ts';
import { email, oneOf, readFields } from '../commands/fields.ts';
import { passkeyDecider } from '../commands/passkeys.ts';
import { NewUser, type UserCommand, userDecider, userIdOf } from '../commands/user.ts';
import { readScope } from '../config/merchants.ts';
import { type Account, roles, userFold, userStream } from '../events/user.ts';
import { type CommandOf, type Report, UsageError } from './command.ts';
import { type Context, staffCause, withStores } from './stores.ts';

const Addressed = maskable({ email });
const WithRole = maskable({ email, role: oneOf(roles) });

type Options = Readonly<Partial<Record<'name' | 'email' | 'role' | 'merchants', string>>>;
type UsersContext = Context<'merchants' | 'transactionIdKey'>;

const actions: Readonly<Record<string, (context: UsersContext, options: Options) => Promise<Report>>> = {
  async add(context, options) {
    const { email } = readFields(options, Addressed);
    const user = readFields({ ...options, name: options.name ?? nameFrom(email) }, NewUser);
    const { id } = await executeOnUser(context, user.email, (at, id) => ({
      type: 'CreateUser',
      at,
      id,
      user,
      console: true,
      granted: grantedIn(context, options),
    }));
    return { data: { id }, text: `User ${id} is added.` };
  },
  async role(context, options) {
    const { email, role } = readFields(options, WithRole);
    const { id } = await executeOnUser(context, email, (at) => ({
      type: 'ChangeUserRole',
      at,
      by: null,
      role,
    }));
    return { data: { id, role }, text: `User ${id} now has the role ${role}.` };
  },
  grant: change('GrantConsoleAccess', maySignIn),
  deactivate: change('DeactivateUser', () => 'is deactivated: every session stops at its next request'),
  reactivate: change('ReactivateUser', maySignIn),
  async 'remove-passkeys'({ config, eventStore, runtime }, options) {
    const id = userIdOf(config.transactionIdKey, readFields(options, Addressed).email);
    const at = runtime.now().toISOString();
    const execute = createExecute({ eventStore, decider: passkeyDecider });
    const command = { type: 'RemovePasskeys', at, id: null, keepsOne: false } as const;
    const { events } = await execute(userStream(id), command, staffCause());
    const removed = events.length;
    return { data: { id, removed }, text: `User ${id} has no passkey any more; ${removed} removed.` };
  },
  async list({ eventStore }) {
    const accounts = await allAccounts(eventStore);
    const line = (...[id, role, state, console, ...rest]: string[]) =>
      [id?.padEnd(26), role?.padEnd(6), state?.padEnd(11), console?.padEnd(7), ...rest].join('  ');
    const lines = accounts.map(({ active, console, email, id, merchants, name, role }) => {
      const scope = merchants ? [`only ${merchants.join(', ')}`] : [];
      return line(id, role, active ? 'active' : 'deactivated', console ? 'yes' : 'no', email, name, ...scope);
    });
    const head = line('id', 'role', 'state', 'console', 'email', 'name');
    return {
      data: accounts,
      text: lines.length === 0 ? 'There are no users yet.' : [head, ...lines].join('\n'),
    };
  },
};

function maySignIn({ active, console }: Account): string {
  if (!active) return 'may sign in to the console once they are reactivated';
  return console ? 'may sign in to the console' : 'is active, and may sign in once access is granted';
}

function change(
  type: 'GrantConsoleAccess' | 'DeactivateUser' | 'ReactivateUser',
  effectOn: (account: Account) => string,
): (context: UsersContext, options: Options) => Promise<Report> {
  return async (context, options) => {
    const { email } = readFields(options, Addressed);
    const more = type === 'GrantConsoleAccess' ? { type, granted: grantedIn(context, options) } : { type };
    const account = await executeOnUser(context, email, (at) => ({ ...more, at, by: null }));
    return { data: { id: account.id }, text: `User ${account.id} ${effectOn(account)}.` };
  };
}

export const command: CommandOf<'users'> = async (values, [name = '', ...more]) => {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || more.length > 0)
    throw new UsageError(`The action must be one of ${Object.keys(actions).join(', ')}`);
  if (values.merchants !== undefined && name !== 'add' && name !== 'grant')
    throw new UsageError('Only add and grant take --merchants');
  return await withStores(
    'users',
    { uses: ['merchants', 'transactionIdKey'], needs: ['eventStore'] },
    async (context) => await action(context, values),
  );
};

/** The part before the @; the whole address if that part is a single letter, which is too short for a name. */
function nameFrom(address: string): string {
  const [local = ''] = address.split('@');
  return local.length > 1 ? local : address;
}

/** Resolves to the user as changed. Throws Refused. */
async function executeOnUser(
  { config, eventStore, runtime }: UsersContext,
  address: string,
  commandOf: (at: string, id: string) => UserCommand,
): Promise<Account> {
  const id = userIdOf(config.transactionIdKey, address);
  const command = commandOf(runtime.now().toISOString(), id);
  const creates = command.type === 'CreateUser';
  const execute = createExecute({ eventStore, decider: userDecider });
  const { state } = await execute(userStream(id), command, staffCause(), { creates });
  if (!state) throw new Error('A command on no user was not refused');
  return state;
}

const grantedIn = ({ config }: UsersContext, { merchants }: Options) =>
  merchants === undefined ? undefined : readScope(merchants, config.merchants);

/** In the order in which they were added. Read from the log, so that it works without Postgres. */
async function allAccounts(eventStore: EventStore): Promise<Account[]> {
  const accounts = new Map<string, Account | null>();
  for await (const event of eventsToEnd(eventStore, { streamPrefixes: [userFold.prefix], after: null })) {
    const { streamName } = event;
    accounts.set(streamName, userFold.evolve(accounts.get(streamName) ?? null, userFold.read(event)));
  }
  return [...accounts.values()].filter((account) => account !== null);
}
