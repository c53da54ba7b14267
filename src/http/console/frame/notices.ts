/** What a page says after an action. The query carries the code and never the words, so that no link puts any into our mouth. */

export type Notice = { kind: 'success' | 'warning'; text: string };

export const notices = {
  'link-requested': {
    kind: 'success',
    text: 'If this address is a member of staff’s, an email with a link is on its way. The link works once, within 15 minutes.',
  },
  'signed-out': { kind: 'success', text: 'You are signed out, on every device that used this session.' },
  'sent-again': { kind: 'success', text: 'The delivery is due again and goes out at once.' },
  'already-due': { kind: 'success', text: 'This delivery is due already.' },
  'requery-news': { kind: 'success', text: 'The registry was asked and had news: see the last event.' },
  'requery-no-news': { kind: 'success', text: 'The registry was asked and had nothing new.' },
  'requery-not-found': { kind: 'warning', text: 'The registry has no record of this payment.' },
  resolved: { kind: 'success', text: 'The exception is resolved.' },
  'rebuild-requested': {
    kind: 'success',
    text: 'The rebuild is asked for; the tables that are there serve until it is done.',
  },
  'role-changed': { kind: 'success', text: 'The role is changed; it holds from now on.' },
  deactivated: { kind: 'success', text: 'The user is deactivated: every session stops at its next request.' },
  reactivated: { kind: 'success', text: 'The user may sign in again.' },
} satisfies Record<string, Notice>;

export type NoticeCode = keyof typeof notices;

/** Null for what is no code. */
export function noticeOf(code: string | undefined): Notice | null {
  return code !== undefined && Object.hasOwn(notices, code) ? notices[code as NoticeCode] : null;
}

/** The path with the notice in its query. */
export function withNotice(path: string, code: NoticeCode): string {
  return `${path}${path.includes('?') ? '&' : '?'}notice=${code}`;
}
