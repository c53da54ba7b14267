/**
 * Clerks who work in the console, on any process, while somebody takes their role, a part of their scope or their account
 * away. Whoever took it away and was told so relies on it.
 */
import { createExecute } from '../../../src/commands/execute.ts';
import { createExecuteSession } from '../../../src/commands/session.ts';
import { type UserCommand, userDecider, userIdOf } from '../../../src/commands/user.ts';
import type { Cause } from '../../../src/events/envelope.ts';
import { sessionStream } from '../../../src/events/session.ts';
import { userStream } from '../../../src/events/user.ts';
import { sessionIdOf } from '../../../src/http/console/sign-in/request-link.ts';
import type { RoleDependencies } from '../../../src/roles/stores.ts';
import type { LogCheck } from '../checks/log.ts';
import type { History } from '../engine/history.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Random } from '../engine/random.ts';
import { merchants, transactionIdKey } from '../program/configuration.ts';
import type { Report } from '../violations.ts';
import { type Answer, ask, formHeaders, formOf } from './http.ts';

const tries = 5;
const acts = 6;
const signInPath = '/console/sign-in';

type Clerk = {
  id: string;
  cookie: string;
  /** Of a form of the session; `''` before the first page. */
  token: string;
  loses: Loss;
  /** When somebody began to take it away, and when that person was told that it is. */
  beganMs: number;
  toldMs: number;
};
type Loss = 'role' | 'scope' | 'account';

export function createClerks({
  process,
  stores: { eventStore, runtime },
  logCheck,
  history,
  report,
  causeOf,
  pickHttp,
  mayMiss,
  mayBeRefused,
}: {
  process: SimulatedProcess;
  stores: Pick<RoleDependencies, 'eventStore' | 'runtime'>;
  logCheck: LogCheck;
  history: History;
  report: Report;
  causeOf: (actor: string) => Cause;
  pickHttp: () => string;
  /** Whether what a process reads may be old. */
  mayMiss: () => boolean;
  /** Whether a session may end early. */
  mayBeRefused: boolean;
}) {
  const executeUser = createExecute({ eventStore, decider: userDecider });
  const executeSession = createExecuteSession(eventStore);
  let clerks = 0;

  /** Resolves to whether somebody was told that it is done. */
  async function insist(run: () => Promise<unknown>): Promise<boolean> {
    for (let number = 0; number < tries; number += 1)
      try {
        await run();
        return true;
      } catch {
        await runtime.sleep(2_000 * 2 ** number);
      }
    return false;
  }

  const at = () => runtime.now().toISOString();
  const change = (id: string, command: UserCommand) =>
    insist(() => executeUser(userStream(id), command, causeOf('staff:one')));

  /** With a link, as the program emails it. Resolves to the cookie, `''` if there is none. */
  async function signIn(userId: string, random: Random): Promise<string> {
    const token = random.bytes(16).toString('base64url');
    const stream = sessionStream(sessionIdOf(transactionIdKey, token));
    const expiresAt = new Date(runtime.now().getTime() + 15 * 60_000).toISOString();
    const link = { type: 'IssueSignInLink', at: at(), userId, expiresAt } as const;
    if (!(await insist(() => executeSession(stream, link, causeOf('anybody'))))) return '';
    const answer = await post(`${signInPath}/${token}`, '', {});
    return answer?.status === 303 ? answer.cookie : '';
  }

  const get = (path: string, cookie: string) => ask(process, { host: pickHttp(), path, headers: { cookie } });
  const post = (path: string, cookie: string, fields: Readonly<Record<string, string>>) =>
    ask(process, {
      host: pickHttp(),
      path,
      method: 'POST',
      headers: { ...formHeaders, cookie },
      body: formOf(fields),
    });

  /** Whether the answer is what is asked for; null if the program could not say. */
  const isGranted = (answer: Answer | null): boolean | null =>
    !answer || answer.status >= 500
      ? null
      : answer.status === 200 || answer.location.startsWith('/console/payments/');

  async function judged(
    what: string,
    clerk: Clerk,
    isTaken: boolean,
    run: () => Promise<Answer | null>,
  ): Promise<Answer | null> {
    const askedMs = process.nowMs();
    const isDoubtful = mayMiss();
    const answer = await run();
    if (isDoubtful || mayMiss()) return answer;
    const granted = isGranted(answer);
    if (granted && isTaken && askedMs > clerk.toldMs)
      report('revoked-opens', clerk.id, `${what} by somebody who has lost the ${clerk.loses}`);
    if (granted === false && process.nowMs() < clerk.beganMs && !mayBeRefused)
      report('clerk-refused', clerk.id, `${what} was answered ${answer?.status} ${answer?.location}`);
    return answer;
  }

  /** Looks at a payment and writes a note about it. */
  async function act(clerk: Clerk, random: Random): Promise<void> {
    logCheck.look();
    const known = [...logCheck.payments].flatMap(([id, { state, isUnreadable }]) =>
      state.status === 'none' || isUnreadable ? [] : [{ id, merchant: state.request.merchant.code }],
    );
    if (known.length === 0) return;
    const { id, merchant } = random.pick(known);
    const path = `/console/payments/${id}`;
    const { cookie, loses } = clerk;
    const isOutside = loses === 'account' || (loses === 'scope' && merchant !== merchants[0]);
    const page = await judged(`A look at ${id}`, clerk, isOutside, () => get(path, cookie));
    const [, token] = /name="token" value="([^"]+)"/.exec(page?.body ?? '') ?? [];
    clerk.token = token ?? clerk.token;
    if (clerk.token === '') return;
    const note = { token: clerk.token, note: `Seen ${random.integer(0, 999_999)}` };
    const isForbidden = isOutside || loses === 'role';
    await judged(`A note on ${id}`, clerk, isForbidden, () => post(`${path}/notes`, cookie, note));
  }

  function lossOf(loses: Loss): UserCommand {
    const by = { at: at(), by: null };
    if (loses === 'account') return { type: 'DeactivateUser', ...by };
    if (loses === 'role') return { type: 'ChangeUserRole', role: 'viewer', ...by };
    const granted = { merchants: merchants.slice(0, 1), configured: merchants };
    return { type: 'GrantConsoleAccess', granted, ...by };
  }

  return {
    async work(random: Random): Promise<void> {
      clerks += 1;
      const user = {
        name: `Clerk ${clerks}`,
        email: `clerk-${clerks}@agency.example`,
        role: 'admin',
      } as const;
      const id = userIdOf(transactionIdKey, user.email);
      if (!(await change(id, { type: 'CreateUser', at: at(), id, user, console: true }))) return;
      const cookie = await signIn(id, random);
      history.tell(`${user.name}: ${cookie === '' ? 'cannot sign in' : 'signs in'}`);
      if (cookie === '') return;
      const loses = random.pick(['role', 'scope', 'account'] as const);
      const never = Number.POSITIVE_INFINITY;
      const clerk: Clerk = { id, cookie, token: '', loses, beganMs: never, toldMs: never };
      const takeAway = async () => {
        await runtime.sleep(random.integer(2, 30) * 1_000);
        clerk.beganMs = process.nowMs();
        if (await change(id, lossOf(loses))) clerk.toldMs = process.nowMs();
        history.tell(`${user.name}: ${clerk.toldMs < never ? 'has lost' : 'may have lost'} the ${loses}`);
      };
      const work = async () => {
        for (let number = 0; number < acts; number += 1) {
          await act(clerk, random);
          await runtime.sleep(random.integer(1, 10) * 1_000);
        }
      };
      await Promise.all([takeAway(), work()]);
    },
  };
}
