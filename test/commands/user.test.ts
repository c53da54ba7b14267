// Decisions about users and projects.
import test from 'ava';
import fc from 'fast-check';
import { Refused } from '../../src/commands/decider.ts';
import { InvalidFields, readFields } from '../../src/commands/fields.ts';
import { type PasskeyCommand, passkeyDecider } from '../../src/commands/passkeys.ts';
import { NewProject, projectDecider, projectIdOf } from '../../src/commands/project.ts';
import { transactionIdOf } from '../../src/commands/transaction-id.ts';
import { NewUser, userDecider, userIdOf } from '../../src/commands/user.ts';
import { type Passkeys, passkeyFold } from '../../src/events/passkeys.ts';
import { type Account, maySignIn, type UserEvent, userFold } from '../../src/events/user.ts';

const at = '2026-11-20T01:02:03.000Z';
const user = { name: 'Aminah', email: 'Aminah@agency.example', role: 'viewer' } as const;
const project = { name: 'Receipts', status: 'draft', stars: 3 } as const;

test('a user is created once', (t) => {
  const command = { type: 'CreateUser', at, id: 'U', user, console: true } as const;
  const events = userDecider.decide(command, userDecider.initial);
  t.deepEqual(events, [{ type: 'UserCreated', data: { at, id: 'U', ...user } }]);
  if (events instanceof Refused) return;
  const state = events.reduce(userDecider.evolve, userDecider.initial);
  t.deepEqual(state, { id: 'U', ...user, createdAt: at, active: true, console: true });
  t.like(userDecider.decide(command, state), { code: 'email_taken' });
  t.is(events.reduce(userDecider.evolve, state), state, 'a second beginning changes nothing');
});

test('a user changes role, is deactivated and reactivated; a change that is already made adds nothing', (t) => {
  const given = { ...user, id: 'U', createdAt: at, active: true, console: true };
  const by = null;
  const decide = (command: Parameters<typeof userDecider.decide>[0], state: typeof given | null = given) => {
    const decided = userDecider.decide(command, state);
    return decided instanceof Refused ? decided.code : decided;
  };
  t.deepEqual(decide({ type: 'ChangeUserRole', at, by, role: 'admin' }), [
    { type: 'UserRoleChanged', data: { at, role: 'admin' } },
  ]);
  t.deepEqual(decide({ type: 'ChangeUserRole', at, by, role: 'viewer' }), []);
  t.deepEqual(decide({ type: 'DeactivateUser', at, by: 'another' }), [
    { type: 'UserDeactivated', data: { at } },
  ]);
  t.deepEqual(decide({ type: 'ReactivateUser', at, by }), []);
  const gone = { ...given, active: false };
  t.deepEqual(decide({ type: 'DeactivateUser', at, by }, gone), []);
  t.deepEqual(decide({ type: 'ReactivateUser', at, by }, gone), [{ type: 'UserReactivated', data: { at } }]);
  for (const command of [
    { type: 'ChangeUserRole', at, role: 'viewer' },
    { type: 'DeactivateUser', at },
    { type: 'ReactivateUser', at },
  ] as const) {
    t.is(decide({ ...command, by: 'U' }), 'own_account');
    t.is(decide({ ...command, by }, null), 'unknown_user');
  }
});

test('who was made over the API is let into the console by an event of its own', (t) => {
  const made = userDecider.decide({ type: 'CreateUser', at, id: 'U', user, console: false }, null);
  if (made instanceof Refused) return t.fail(made.message);
  const outside = made.reduce(userDecider.evolve, userDecider.initial);
  if (!outside) return t.fail();
  t.false(maySignIn(outside));
  t.like(userDecider.decide({ type: 'GrantConsoleAccess', at, by: 'U' }, outside), { code: 'own_account' });
  const granted = userDecider.decide({ type: 'GrantConsoleAccess', at, by: null }, outside);
  t.deepEqual(granted, [{ type: 'ConsoleAccessGranted', data: { at } }]);
  if (granted instanceof Refused) return;
  const inside = granted.reduce(userDecider.evolve, outside);
  t.true(inside !== null && maySignIn(inside));
  t.deepEqual(userDecider.decide({ type: 'GrantConsoleAccess', at, by: null }, inside), []);
  const deactivated = inside && { ...inside, active: false };
  t.false(deactivated !== null && maySignIn(deactivated), 'a deactivated user stays out');
});

test('access is granted for some merchants, in a form that older programs refuse', (t) => {
  const granted = (...merchants: string[]) => ({ merchants, configured: ['council', 'museum'] });
  const create = { type: 'CreateUser', at, id: 'U', user, console: true } as const;
  const decide = (command: Parameters<typeof userDecider.decide>[0], state: Account | null = null) => {
    const decided = userDecider.decide(command, state);
    return decided instanceof Refused ? decided.message : decided;
  };
  const fold = (events: readonly UserEvent[] | string) =>
    (typeof events === 'string' ? [] : events).reduce<Account | null>(userFold.evolve, null);
  const made = decide({ ...create, granted: granted('council') });
  t.deepEqual(made, [
    { type: 'UserCreated', data: { at, id: 'U', ...user, console: false } },
    { type: 'ConsoleAccessGranted', data: { at, merchants: ['council'] } },
  ]);
  const limited = fold(made);
  t.deepEqual(limited?.merchants, ['council']);
  t.true(limited !== null && maySignIn(limited));
  t.is(decide({ ...create, granted: granted('library') }), 'There is no merchant “library”');
  t.deepEqual(
    decide({ ...create, granted: { merchants: null, configured: [] } }),
    decide(create),
    'all merchants are the default',
  );
  const grant = { type: 'GrantConsoleAccess', at, by: null } as const;
  t.deepEqual(decide(grant, limited), [], 'who has a scope keeps it');
  t.deepEqual(decide({ ...grant, granted: granted('council') }, limited), []);
  t.deepEqual(decide({ ...grant, granted: granted('museum') }, limited), [
    { type: 'ConsoleAccessGranted', data: { at, merchants: ['museum'] } },
  ]);
  t.is(decide({ ...grant, granted: granted('museum', 'x', 'y') }, limited), 'There is no merchant “x”, “y”');
  const former = { merchants: ['council', 'museum'], configured: ['museum'] };
  t.is(typeof decide({ ...grant, granted: former }, limited), 'object', 'one that it has may be gone');
  const widened = decide({ ...grant, granted: { merchants: null, configured: [] } }, limited);
  t.deepEqual(widened, [{ type: 'ConsoleAccessGranted', data: { at } }]);
  t.false('merchants' in (fold([...(made as UserEvent[]), ...(widened as UserEvent[])]) ?? {}));
});

const created: UserEvent = { type: 'UserCreated', data: { at, id: 'U', ...user } };
const passkey = (id: string) => ({ id, publicKey: 'K', counter: 0, transports: [], name: 'Phone' });
const registered = (id: string): UserEvent => ({ type: 'PasskeyRegistered', data: { at, ...passkey(id) } });
const removed = (id: string): UserEvent => ({ type: 'PasskeyRemoved', data: { at, id } });

test('passkeys are registered once, and removed by their holder or another', (t) => {
  const decide = (given: readonly UserEvent[], command: PasskeyCommand) => {
    const decided = passkeyDecider.decide(command, given.reduce(passkeyFold.evolve, null as Passkeys | null));
    return decided instanceof Refused ? decided.code : decided;
  };
  const register: PasskeyCommand = { type: 'RegisterPasskey', at, passkey: passkey('P'), asFirst: false };
  t.deepEqual(decide([created], register), [registered('P')]);
  t.is(decide([], register), 'unknown_user');
  t.is(decide([created, registered('P')], register), 'passkey_refused');
  t.is(decide([created, registered('P'), removed('P')], register), 'passkey_refused');
  t.deepEqual(decide([created], { ...register, asFirst: true }), [registered('P')]);
  const other = { ...register, passkey: passkey('Q') };
  t.is(decide([created, registered('P')], { ...other, asFirst: true }), 'passkey_refused', 'of two browsers');
  t.deepEqual(decide([created, registered('P')], other), [registered('Q')]);
  const nine = [created, ...Array.from({ length: 9 }, (_, index) => registered(`P${index}`))];
  t.deepEqual(decide(nine, register), [registered('P')]);
  t.is(decide([...nine, registered('Q')], register), 'too_many_passkeys');
  const two = [created, registered('P'), registered('Q')];
  const remove = { type: 'RemovePasskeys', at, id: 'P' } as const;
  t.deepEqual(decide(two, { ...remove, keepsOne: true }), [removed('P')]);
  t.is(decide([...two, removed('Q')], { ...remove, keepsOne: true }), 'last_passkey');
  t.deepEqual(decide([...two, removed('Q')], { ...remove, keepsOne: false }), [removed('P')]);
  t.deepEqual(decide([...two, removed('P')], { ...remove, keepsOne: true }), []);
  t.deepEqual(decide(two, { ...remove, id: null, keepsOne: false }), [removed('P'), removed('Q')]);
  t.is(decide(two, { ...remove, id: null, keepsOne: true }), 'last_passkey');
});

test('passkeys fold from any events in any order: each is held, was removed or is unknown', (t) => {
  const id = fc.constantFrom('P', 'Q', 'R');
  const event = fc.oneof(fc.constant(created), id.map(registered), id.map(removed));
  const property = fc.property(fc.array(event, { maxLength: 12 }), (events) => {
    const state = events.reduce<Passkeys | null>(passkeyFold.evolve, null);
    const ids = [...(state?.held.map((it) => it.id) ?? []), ...(state?.removedIds ?? [])];
    return new Set(ids).size === ids.length && (state !== null || !events.includes(created));
  });
  t.notThrows(() => fc.assert(property));
});

test('a project is registered once; the same again changes nothing, another is refused', (t) => {
  const command = { type: 'RegisterProject', at, id: 'P', project } as const;
  const events = projectDecider.decide(command, projectDecider.initial);
  t.deepEqual(events, [{ type: 'ProjectRegistered', data: { at, id: 'P', ...project } }]);
  if (events instanceof Refused) return;
  const state = events.reduce(projectDecider.evolve, projectDecider.initial);
  t.deepEqual(state, { id: 'P', ...project });
  t.deepEqual(projectDecider.decide({ ...command, at: '2027-01-01T00:00:00.000Z' }, state), []);
  for (const other of [{ stars: 4 }, { status: 'active' as const }])
    t.like(projectDecider.decide({ ...command, project: { ...project, ...other } }, state), {
      code: 'project_differs',
    });
});

test('an address has one id, in upper or lower case; another key or kind has another', (t) => {
  const id = userIdOf('key', 'aminah@agency.example');
  t.is(userIdOf('key', 'AMINAH@Agency.Example'), id);
  const others = [
    userIdOf('another key', 'aminah@agency.example'),
    userIdOf('key', 'aminah+1@agency.example'),
    projectIdOf('key', 'aminah@agency.example'),
    transactionIdOf('key', 'generic', 'user', 'aminah@agency.example'),
  ];
  t.is(new Set([id, ...others]).size, 5);
  t.regex(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
});

test('unknown fields are left out, and the default role is member', (t) => {
  t.deepEqual(readFields({ name: 'Li', email: 'li@agency.example', admin: true }, NewUser), {
    name: 'Li',
    email: 'li@agency.example',
    role: 'member',
  });
});

test('the refusal of a project names its faulty fields', (t) => {
  for (const [change, message] of [
    [{ name: 'R' }, 'name must have at least 2 characters'],
    [
      { name: ' Receipts' },
      'name must have a visible character, no control characters, and no space at either end',
    ],
    [{ status: 'done' }, 'status must be one of active, archived, draft'],
    [{ stars: -1 }, 'stars must be a whole number, 0 or more'],
    [{ stars: 1.5 }, 'stars must be a whole number, 0 or more'],
    [{ stars: '3' }, 'stars must be a whole number, 0 or more'],
    [{ stars: undefined }, 'stars must be a whole number, 0 or more'],
  ] as const)
    t.throws(() => readFields({ ...project, ...change }, NewProject), {
      instanceOf: InvalidFields,
      message,
    });
  t.throws(() => readFields(null, NewProject), { message: 'The body must be a JSON object' });
});
