/** The users, as GET /api/v1/users and the console list them. */
import { listProjection } from '@ledger/projections/runtime/list-projection.ts';
import { userFold } from '../../events/user.ts';

export const users = listProjection({ name: 'users', version: 4, fold: userFold });
