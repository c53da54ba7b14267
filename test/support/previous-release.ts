/** The release before this one, to be run beside it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Its last commit; to be raised with each release. What only that release needs is a development dependency of this one:
 * d3-scale.
 */
export const previousCommit = 'eb0b481';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Git ignores it. It stays for later runs, which find what Node compiled of these files by their paths. */
const kept = join(root, '.previous-release');

/** Its folder; null if the clone does not have the commit. Its libraries are those of this release. */
export async function unpackPreviousRelease(): Promise<string | null> {
  const folder = join(kept, previousCommit);
  if (existsSync(folder)) return folder;
  try {
    execFileSync('git', ['cat-file', '-e', `${previousCommit}^{commit}`], { cwd: root, stdio: 'ignore' });
  } catch {
    return null; // a shallow clone, or no clone at all
  }
  const parts = ['src', 'packages', 'config', 'content', 'views', 'package.json'];
  const archive = execFileSync('git', ['archive', previousCommit, ...parts], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  });
  await mkdir(kept, { recursive: true });
  const unpacked = await mkdtemp(join(kept, 'unpacking-'));
  execFileSync('tar', ['-x', '-C', unpacked], { input: archive });
  // Our own packages are part of the release. Node finds all others in the folders above.
  await mkdir(join(unpacked, 'node_modules/@ledger'), { recursive: true });
  for (const name of await readdir(join(unpacked, 'packages')))
    await symlink(join('../../packages', name), join(unpacked, 'node_modules/@ledger', name));
  try {
    await rename(unpacked, folder);
  } catch (error) {
    await rm(unpacked, { recursive: true });
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
