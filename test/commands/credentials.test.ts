// A merchant's own credentials: what ends when, and that keys and webhook secrets do not end each other.
import test from 'ava';
import { type CredentialCommand, credentialDecider } from '../../src/commands/credentials.ts';
import { Refused } from '../../src/commands/decider.ts';
import type { CredentialKind } from '../../src/events/merchant.ts';

const { decide, evolve, initial } = credentialDecider;
const time = (hour: number) => `2026-11-20T0${hour}:00:00.000Z`;
const configured = { 'api-key': ['A'], 'webhook-secret': ['S'] };
const asked = (kind: CredentialKind, hour: number, by: string) => ({ at: time(hour), kind, by, configured });
const issue = (kind: CredentialKind, fingerprint: string, hour: number, by: string): CredentialCommand => ({
  ...asked(kind, hour, by),
  type: 'IssueCredential',
  fingerprint,
  secret: kind === 'api-key' ? null : 'a secret',
  othersEndAt: time(hour + 2),
});
const end = (kind: CredentialKind, hour: number, by: string): CredentialCommand => ({
  ...asked(kind, hour, by),
  type: 'EndOverlap',
});

/** What each command adds, or why it is refused. */
function answers(...commands: CredentialCommand[]): string[] {
  let state = initial;
  return commands.map((command) => {
    const events = decide(command, state);
    if (events instanceof Refused) return events.code;
    state = events.reduce(evolve, state);
    return events.map(({ type }) => type).join();
  });
}

const issued = 'CredentialIssued';
const ended = 'OverlapEnded';

test('an overlap ends once; that of keys and that of webhook secrets end by themselves', (t) => {
  const keys = [issue('api-key', 'B', 1, 'A'), end('api-key', 2, 'B'), end('api-key', 2, 'B')];
  t.deepEqual(answers(...keys), [issued, ended, '']);
  const secrets = [
    issue('webhook-secret', 'T', 1, 'A'),
    end('api-key', 2, 'A'),
    end('webhook-secret', 2, 'A'),
  ];
  t.deepEqual(answers(...secrets), [issued, '', ended]);
  const both = [issue('api-key', 'B', 1, 'A'), issue('webhook-secret', 'T', 1, 'B'), end('api-key', 2, 'B')];
  t.deepEqual(answers(...both, end('webhook-secret', 2, 'B')), [issued, issued, ended, ended]);
  t.deepEqual(answers(issue('api-key', 'B', 1, 'A'), end('api-key', 3, 'B')), [issued, ''], 'it is over');
});

test('a key is valid until its end, and only the newest ends the others', (t) => {
  const first = issue('api-key', 'B', 1, 'A');
  t.deepEqual(answers(first, end('api-key', 2, 'A')), [issued, 'not_newest_key']);
  t.deepEqual(answers(first, issue('api-key', 'C', 3, 'A')), [issued, 'key_ended']);
  const second = issue('api-key', 'C', 2, 'A');
  t.deepEqual(answers(first, second, end('api-key', 2, 'B')), [issued, issued, 'not_newest_key']);
  t.deepEqual(answers(first, second, end('api-key', 2, 'C')), [issued, issued, ended]);
  const added = { ...configured, 'api-key': ['A', 'N'] };
  const withAdded: CredentialCommand = { ...end('api-key', 2, 'B'), configured: added };
  t.deepEqual(
    answers(first, withAdded),
    [issued, 'not_newest_key'],
    'the configuration has got one without an end',
  );
});
