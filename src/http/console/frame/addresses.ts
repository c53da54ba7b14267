/** Where the console is, and the headers that its answers have instead of the common ones. */
import { contentPolicy } from '@ledger/web/content-policy.ts';

export const signInPath = '/console/sign-in';

export const isConsolePath = (path: string): boolean => path === '/console' || path.startsWith('/console/');

/** Style and script come from our own files, and nothing is inline. */
export const consoleHeaders = {
  'Content-Security-Policy': contentPolicy({
    'style-src': "'self'",
    'script-src': "'self'",
    'connect-src': "'self'",
    'img-src': 'data:',
    'form-action': "'self'",
  }),
  // Never the path, which may be a sign-in link. With no referrer at all, browsers send our own forms with `Origin: null`.
  'Referrer-Policy': 'strict-origin',
} as const;
