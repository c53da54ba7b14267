/** Every projection there is: what the role runs, and what health looks after. */
import { details } from './details.ts';
import { journal } from './journal.ts';
import { looks } from './looks.ts';
import { payments } from './payments.ts';
import type { Projection } from './projection.ts';
import { projects } from './projects.ts';
import { reconciliation } from './reconciliation.ts';
import { unmatched } from './unmatched.ts';
import { users } from './users.ts';

export const allProjections: readonly Projection[] = [
  payments,
  journal,
  details,
  users,
  projects,
  unmatched,
  looks,
  reconciliation,
];
