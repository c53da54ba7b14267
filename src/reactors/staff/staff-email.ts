/** Tells staff by email what needs them: at most once an hour, by one of all processes, with counts and links. */
import { createHash } from 'node:crypto';
import type { Background } from '@ledger/kernel/run-until-stopped.ts';
import { warnSeldom } from '@ledger/kernel/warn-seldom.ts';
import type { Mailer } from '@ledger/outbound/mailer.ts';
import { briefReasonOf } from '@ledger/postgres/error-codes.ts';
import type { LeaderElection } from '@ledger/postgres/leader-election.ts';
import { repeatAsLeader } from '@ledger/postgres/leader-loop.ts';
import type { Stores } from '@ledger/projections/runtime/stores.ts';
import type { Knex } from 'knex';
import en from '../../../content/texts/console.en.json' with { type: 'json' };
import ms from '../../../content/texts/console.ms.json' with { type: 'json' };
import type { Language } from '../../common/languages.ts';
import { phrase } from '../../common/phrases.ts';
import { createTemplates } from '../../common/templates.ts';
import { type Account, maySignIn } from '../../events/user.ts';
import { users } from '../../projections/users/projection.ts';
import {
  makeStaffEmail,
  type News,
  noteRecipients,
  type StaffEmail,
  unsentStaffEmail,
} from './staff-news.ts';

type Dependencies = Pick<Stores, 'db' | 'log' | 'runtime'> & {
  mailer: Mailer;
  /** The people who get it; while there are none, nothing counts as reported. */
  recipients(): Promise<readonly string[]>;
  baseUrl: string;
};

const templates = createTemplates('email');
const pollMs = 2 * 60_000;
const pauseMs = 60 * 60_000;
const sendWithinMs = 60_000;

/** The admins without a scope, because the email counts what is open of all merchants. Rejects when Postgres is down. */
export async function recipientsIn(db: Knex): Promise<string[]> {
  const admins = db(`${users.name}.${users.name}`).whereRaw(`state ->> 'role' = 'admin'`);
  const found: Account[] = await admins.pluck('state').timeout(2_000);
  return found.filter((each) => !each.merchants && maySignIn(each)).map(({ email }) => email);
}

/** Runs until stopped. One process sends, the others stand by. */
export function startStaffEmail(dependencies: Dependencies & { election: LeaderElection }): Background {
  const { election, log, runtime } = dependencies;
  const warn = warnSeldom(log, runtime);
  const onFailure = (error: unknown) =>
    warn({ reason: briefReasonOf(error) }, 'staff cannot be told of what waits for them');
  const options = { election, name: 'staff-email', everyMs: pollMs, runtime, onFailure };
  return repeatAsLeader(options, (leading) => tellStaff(dependencies, leading));
}

/** One look: sends what has not reached everybody, and what is new if an hour has passed. Rejects when Postgres is down. */
export async function tellStaff(
  { baseUrl, db, log, mailer, recipients, runtime }: Dependencies,
  signal: AbortSignal,
): Promise<void> {
  const to = await recipients();
  if (to.length === 0) return;
  await makeStaffEmail(db, { now: runtime.now(), pauseMs, recipients: to });
  const email = await unsentStaffEmail(db);
  if (!email) return;
  let left = email.recipients;
  for (const address of email.recipients) {
    const until = AbortSignal.any([signal, runtime.timeout(sendWithinMs)]);
    const outcome = await mailer.send({ to: address, ...messageOf(email, address, baseUrl) }, until);
    if (outcome.kind !== 'sent') log.warn({ reason: outcome.reason }, 'an email to staff could not be sent');
    // An address that refuses the email would refuse it again: it is not tried any more.
    if (outcome.kind === 'failed') continue;
    left = left.filter((each) => each !== address);
    await noteRecipients(db, { ...email, recipients: left });
  }
}

/** In both languages. The id is the same at every attempt, so that a repeat after a crash is recognised. */
export function messageOf({ at, news }: StaffEmail, address: string, baseUrl: string) {
  const digest = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const count = news.reduce((sum, { added }) => sum + added, 0);
  const parts = (['ms', 'en'] as const).map((lang) => ({
    lang,
    subject: phrase(
      lang,
      count === 1 ? '1 new matter needs your attention' : '{count} new matters need your attention',
      { count },
    ),
    lines: news.map((each) => {
      const { name, path } = about(each, lang);
      const values = { ...each, name };
      return {
        text: phrase(lang, '{name}: {added} new, {waiting} in all', values),
        url: `${baseUrl}/console/${path}`,
      };
    }),
  }));
  const subject = parts.map((part) => `${phrase(part.lang, 'Payment ledger')}: ${part.subject}`).join(' / ');
  const paragraphs = parts.flatMap((part) => [
    part.subject,
    ...part.lines.map(({ text, url }) => `${text}\n${url}`),
  ]);
  return {
    id: `staff-${at.getTime()}-${digest}`,
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: templates.render('staff.njk', { subject, parts }),
  };
}

function about({ subject, kind }: News, lang: Language): { name: string; path: string } {
  if (subject === 'projection')
    return { name: phrase(lang, 'The projection {kind} has stopped', { kind }), path: 'projections' };
  const { exceptions, deliveryKinds } = { en, ms }[lang];
  if (subject === 'delivery') {
    const delivery = deliveryKinds[kind as keyof typeof deliveryKinds];
    return { name: phrase(lang, '{delivery}, given up', { delivery }), path: 'deliveries?state=abandoned' };
  }
  const { name } = exceptions.kinds[kind as keyof typeof exceptions.kinds];
  return { name, path: `exceptions?kind=${kind}` };
}
