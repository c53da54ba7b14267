// What is installed is what was reviewed: the lockfile holds a hash of every package, and packages of one registry only.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'ava';

type Entry = {
  version?: string;
  name?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Readonly<Record<string, string>>;
  optionalDependencies?: Readonly<Record<string, string>>;
};
type Lockfile = { packages: Readonly<Record<string, Entry>> };

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const lockfile: Lockfile = read('package-lock.json');
const { allowScripts, workspaces } = read('package.json');

/** Packages that others install under a second name, each looked at by a person. */
const aliases = ['string-width-cjs', 'strip-ansi-cjs', 'wrap-ansi-cjs'];

/** What is wrong with a lockfile, one line for each fault. */
function faultsOf({ packages }: Lockfile, registry: () => string): string[] {
  const isWorkspace = (path: string) => /^packages\/[a-z-]+$/.test(path);
  return Object.entries(packages).flatMap(([path, entry]) => {
    const { resolved, integrity = '', link = false } = entry;
    const specs = { ...entry.dependencies, ...entry.optionalDependencies };
    const faults = Object.entries(specs)
      // A version or a range of versions, of the same package or another of the registry; no address and no folder.
      .filter(([, spec]) => !/^(npm:(@[a-z-]+\/)?[a-z-]+@)?[\dxX*^~<>=|.\s+a-z-]*$/.test(spec))
      .map(([name, spec]) => `asks for ${name} as ${spec}`);
    if (path === '' || isWorkspace(path)) return faults.map((fault) => `${path || 'the project'} ${fault}`);
    if (link) return isWorkspace(resolved ?? '') ? [] : [`${path} is a link to ${resolved}`];
    const name = path.split('node_modules/').at(-1) ?? '';
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) faults.push('has no hash');
    if (entry.name !== undefined && entry.name !== name && !aliases.includes(name))
      faults.push(`is another package: ${entry.name}`);
    if (resolved !== undefined && !resolved.startsWith(registry())) faults.push(`is from ${resolved}`);
    if (entry.hasInstallScript && !(name in allowScripts))
      faults.push('has an install script nobody decided on');
    return faults.map((fault) => `${path} ${fault}`);
  });
}

test('every package of the lockfile has a hash, and is from the registry that npm uses', (t) => {
  t.deepEqual(workspaces, ['packages/*']);
  t.deepEqual(
    faultsOf(lockfile, () =>
      execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/?$/, '/'),
    ),
    [],
  );
});

const attacks: readonly (readonly [what: string, change: Entry, fault: RegExp])[] = [
  ['a package without a hash', { integrity: '' }, /has no hash/],
  ['a hash that can be forged', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, /has no hash/],
  ['a package of another host', { resolved: 'https://evil.example/koa/-/koa-3.3.0.tgz' }, /is from https:/],
  ['a host that begins like ours', { resolved: 'https://registry.example.evil/koa.tgz' }, /is from https:/],
  ['a repository', { resolved: 'git+ssh://git@evil.example/koa.git#1234567' }, /is from git/],
  ['a folder', { resolved: '../koa', link: true }, /is a link to/],
  ['a package under the name of another', { name: 'kao' }, /is another package/],
  ['an install script', { hasInstallScript: true }, /install script/],
  ['a dependency on a repository', { dependencies: { ms: 'evil/ms' } }, /asks for ms/],
  ['a dependency on an address', { dependencies: { ms: 'https://evil.example/ms.tgz' } }, /asks for ms/],
  ['a dependency on a folder', { optionalDependencies: { ms: 'file:../ms' } }, /asks for ms/],
];

for (const [what, change, fault] of attacks)
  test(`the check finds ${what}`, (t) => {
    const path = 'node_modules/koa';
    const packages = { ...lockfile.packages, [path]: { ...lockfile.packages[path], ...change } };
    const [found = '', ...more] = faultsOf({ packages }, () => 'https://registry.example/');
    t.regex(found, fault);
    t.deepEqual(more, []);
  });

test('install scripts run only where package.json names them', (t) => {
  t.regex(readFileSync('.npmrc', 'utf8'), /^strict-allow-scripts=true$/m);
});
