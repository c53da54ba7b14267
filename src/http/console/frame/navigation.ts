/** The console's pages as its navigation shows them, in its order. */
import type { Role } from '../../../events/user.ts';
import { type Action, may } from './permissions.ts';

type Entry = { path: string; title: string; action: Action };

const entries: readonly Entry[] = [
  { path: '/console', title: 'Today', action: 'look' },
  { path: '/console/payments', title: 'Payments', action: 'look' },
  { path: '/console/exceptions', title: 'Exceptions', action: 'look' },
  { path: '/console/reconciliation', title: 'Reconciliation', action: 'look' },
  { path: '/console/deliveries', title: 'Deliveries', action: 'look' },
  { path: '/console/statements', title: 'Statements', action: 'look' },
  { path: '/console/journal', title: 'Journal', action: 'look' },
  { path: '/console/export', title: 'Export', action: 'export' },
  { path: '/console/projections', title: 'Projections', action: 'look' },
  { path: '/console/seals', title: 'Seals', action: 'look' },
  { path: '/console/looks', title: 'Who looked', action: 'seeLooks' },
  { path: '/console/staff', title: 'Staff', action: 'manageStaff' },
];

/** Those that the role may see; the current one is that whose path the page is at or below. */
export function navigationFor(role: Role, path: string) {
  return entries
    .filter(({ action }) => may(role, action))
    .map((entry) => ({
      path: entry.path,
      title: entry.title,
      isCurrent: path === entry.path || (entry.path !== '/console' && path.startsWith(`${entry.path}/`)),
    }));
}
