/** The release before this one, to be run beside it. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Its last commit; to be raised with each release. What only that release needs is a development dependency of this one:
 * d3-scale.
 */
export const previousCommit = 'eb0b481';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Puts it into a folder, with the dependencies of this release; false if the clone does not have the commit. */
export async function unpackPreviousRelease(folder: string): Promise<boolean> {
  try {
    execFileSync('git', ['cat-file', '-e', `${previousCommit}^{commit}`], { cwd: root, stdio: 'ignore' });
  } catch {
    return false; // a shallow clone, or no clone at all
  }
  const parts = ['src', 'packages', 'config', 'content', 'views', 'package.json'];
  const archive = execFileSync('git', ['archive', previousCommit, ...parts], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  // All but our own packages, which are part of the release.
  await mkdir(join(folder, 'node_modules/@ledger'), { recursive: true });
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '@ledger')
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(folder, 'node_modules/@ledger', name));
  return true;
}
