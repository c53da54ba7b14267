/**
 * The staff console: every page and action of it, with who may. frame/ is what every page has, sign-in/ the way in; each other
 * folder or file is a subject, and its templates are in the folder of that name in views/console.
 */
import type Router from '@koa/router';
import { type Context, type RequestState, seeOther } from '../server/context.ts';
import { send } from '../server/static-files.ts';
import { accountRoutes } from './accounts.ts';
import { personalDataRoutes } from './audit/access-log.ts';
import { exportRoutes } from './audit/export.ts';
import { sealRoutes } from './audit/seals.ts';
import { deliveryRoutes } from './deliveries.ts';
import { exceptionRoutes } from './exceptions/exceptions.ts';
import type { ConsoleParts } from './frame/parts.ts';
import { addGuarded, type ConsoleRoute } from './frame/route.ts';
import { homeRoutes } from './home/home.ts';
import { journalRoutes } from './journal/journal.ts';
import { statementRoutes } from './journal/statements.ts';
import { actionRoutes } from './payments/actions.ts';
import { findRoutes } from './payments/find.ts';
import { paymentHistoryRoutes } from './payments/history.ts';
import { pageRoutes } from './payments/page.ts';
import { peopleRoutes } from './payments/people.ts';
import { projectionRoutes } from './projections/projections.ts';
import { reconciliationRoutes } from './reconciliation.ts';
import { addSignInRoutes, signOutRoutes } from './sign-in/sign-in.ts';

/** All that asks who is there. */
export function consoleRoutes(parts: ConsoleParts): readonly ConsoleRoute[] {
  return [
    ...homeRoutes(parts),
    ...exceptionRoutes(parts),
    ...reconciliationRoutes(parts),
    ...deliveryRoutes(parts),
    ...findRoutes(parts),
    ...pageRoutes(parts),
    ...peopleRoutes(parts),
    ...actionRoutes(parts),
    ...journalRoutes(parts),
    ...statementRoutes(parts),
    ...projectionRoutes(parts),
    ...personalDataRoutes(parts),
    ...sealRoutes(parts),
    ...accountRoutes(parts),
    ...paymentHistoryRoutes(parts),
    ...exportRoutes(parts),
    ...signOutRoutes(parts),
  ];
}

export function addConsoleRoutes(router: Router<RequestState>, parts: ConsoleParts): void {
  for (const [path, answer] of parts.assets.answers) router.get(path, (ctx: Context) => send(ctx, answer));
  router.get('/console/', (ctx: Context) => seeOther(ctx, '/console'));
  addSignInRoutes(router, parts);
  addGuarded(router, consoleRoutes(parts), parts);
}
