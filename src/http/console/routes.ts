/** The staff console: every page and action of it, with who may. */
import type Router from '@koa/router';
import { send } from '../content/docs/answer.ts';
import { type Context, type RequestState, seeOther } from '../context.ts';
import type { ConsoleParts } from './parts.ts';
import { addGuarded, type ConsoleRoute } from './route.ts';
import { addSignInRoutes, signOutRoutes } from './sign-in.ts';

/** All that asks who is there. */
export function consoleRoutes(parts: ConsoleParts): readonly ConsoleRoute[] {
  return [...homeRoutes(parts), ...signOutRoutes(parts)];
}

export function addConsoleRoutes(router: Router<RequestState>, parts: ConsoleParts): void {
  for (const [path, answer] of parts.assets.answers) router.get(path, (ctx: Context) => send(ctx, answer));
  router.get('/console/', (ctx: Context) => seeOther(ctx, '/console'));
  addSignInRoutes(router, parts);
  addGuarded(router, consoleRoutes(parts), parts);
}

function homeRoutes({ frame }: ConsoleParts): ConsoleRoute[] {
  return [
    {
      method: 'get',
      path: '/console',
      action: 'look',
      handle: (ctx) => frame.show(ctx, 'home.njk', { title: 'Console' }),
    },
  ];
}
