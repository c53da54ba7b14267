/** What a page or an action of the console is: a function of the request and of the dependencies that it names. */
import type { ConsoleDependencies } from '../dependencies.ts';
import { createLookAtRebuilds } from '../projections/rebuilds.ts';
import { createConsoleAssets } from './assets.ts';
import { createShowPage } from './frame.ts';
import { createAskReadModels } from './read-models.ts';
import { createRecordAccess } from './record-access.ts';
import { createReturnTo } from './return-to.ts';
import { createSessions, type StaffContext } from './session.ts';

export type Page = (ctx: StaffContext, dependencies: PageDependencies) => Promise<void>;

/** Every page and action receives all of it and names the few things that it uses. */
export type PageDependencies = ReturnType<typeof createPageDependencies>;

export function createPageDependencies(dependencies: ConsoleDependencies) {
  const { console: own, content, ...shared } = dependencies;
  const assets = createConsoleAssets();
  const sessions = createSessions(dependencies);
  return {
    ...shared,
    ...content,
    ...own,
    assets,
    sessions,
    returnTo: createReturnTo(shared.config.baseUrl),
    show: createShowPage({ assets, sessions }),
    recordAccess: createRecordAccess(dependencies),
    askReadModels: createAskReadModels(shared),
    lookAtRebuilds: createLookAtRebuilds(dependencies),
  };
}
