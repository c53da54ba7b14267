/** The program of this release, and that of the one before it, whose modules are loaded from a folder of their own. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../../src/config/config.ts';
import { startHttp } from '../../../src/roles/http.ts';
import { startProjections } from '../../../src/roles/projections.ts';
import { startReactors } from '../../../src/roles/reactors.ts';
import { openStores } from '../../../src/roles/stores.ts';
import { previousCommit, unpackPreviousRelease } from '../../support/previous-release.ts';

export type Release = {
  loadConfig: typeof loadConfig;
  openStores: typeof openStores;
  startHttp: typeof startHttp;
  startProjections: typeof startProjections;
  startReactors: typeof startReactors;
};

export const thisRelease: Release = { loadConfig, openStores, startHttp, startProjections, startReactors };

let previous: Promise<Release> | undefined;

/** The libraries are this release's, and with them what the simulator replaces. Throws if the clone lacks its commit. */
export function previousRelease(): Promise<Release> {
  previous ??= load();
  return previous;
}

async function load(): Promise<Release> {
  const folder = await unpackPreviousRelease();
  if (folder === null) throw new Error(`This clone lacks commit ${previousCommit}`);
  const files = ['config/config', 'roles/http', 'roles/lifecycle', 'roles/projections', 'roles/reactors'];
  const modules = files.map((file) => import(pathToFileURL(join(folder, `src/${file}.ts`)).href));
  return Object.assign({}, ...(await Promise.all(modules)));
}
