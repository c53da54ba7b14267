/** What every page of the console is made with. */
import type { ConsoleDependencies } from '../dependencies.ts';
import { createRecordAccess } from './access-log.ts';
import { createConsoleAssets } from './assets.ts';
import { createSessionCookies } from './cookie.ts';
import { createFrame } from './frame.ts';
import { createReturnTo } from './return-to.ts';
import { createSameOriginCheck } from './same-origin.ts';
import { createFindStaff } from './session.ts';

export type ConsoleParts = ReturnType<typeof createConsoleParts>;

export function createConsoleParts(dependencies: ConsoleDependencies) {
  const { config, eventStore } = dependencies;
  const clock = dependencies.runtime.now;
  const assets = createConsoleAssets();
  const cookies = createSessionCookies({ ...config, clock });
  return {
    ...dependencies,
    clock,
    assets,
    cookies,
    returnTo: createReturnTo(config.baseUrl),
    checkOrigin: createSameOriginCheck(config.baseUrl),
    findStaff: createFindStaff({ clock, cookies, eventStore }),
    frame: createFrame({ assets, cookies }),
    recordLook: createRecordAccess({ ...dependencies.console, clock }),
  };
}
