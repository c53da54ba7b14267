/** All projections: those that the role runs and health reports on. */
import type { Projection } from '@ledger/projections/runtime/projection.ts';
import { accessLog } from './access-log/projection.ts';
import { details } from './details/projection.ts';
import { journal } from './journal/projection.ts';
import { payments } from './payments/projection.ts';
import { projects } from './projects/projection.ts';
import { reconciliation } from './reconciliation/projection.ts';
import { unmatched } from './unmatched/projection.ts';
import { users } from './users/projection.ts';

export const allProjections: readonly Projection[] = [
  payments,
  journal,
  details,
  users,
  projects,
  unmatched,
  accessLog,
  reconciliation,
];
