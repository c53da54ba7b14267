// A command as the first process of a container, to which the kernel passes only signals that it handles.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { settingsFor } from '../support/ledger.ts';

const program = fileURLToPath(new URL('../../src/ledger.js', import.meta.url));
const asFirstProcess = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];

for (const [signal, exitCode] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)
  test(`${signal} ends it, although the command itself handles no signals`, async (t) => {
    if (spawnSync('unshare', [...asFirstProcess, 'true']).status !== 0)
      return t.pass('SKIPPED: this machine makes no namespaces');
    const silent = createServer().listen(0, '127.0.0.1');
    t.teardown(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const databaseUrl = `postgres://ledger@127.0.0.1:${port}/ledger`;
    const parent = spawn('unshare', [...asFirstProcess, process.execPath, program, 'balances'], {
      env: { ...process.env, ...settingsFor({ esdbUrl: 'esdb://127.0.0.1:9?tls=false', databaseUrl }) },
      stdio: 'ignore',
    });
    t.teardown(() => parent.kill('SIGKILL'));
    const exited = once(parent, 'exit');
    // Now it waits for an answer.
    const [connection] = await once(silent, 'connection');
    connection.on('error', () => undefined);
    t.teardown(() => connection.destroy());
    const children = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8');
    process.kill(Number(children), signal);
    t.deepEqual(await exited, [exitCode, null]);
  });

// The documentation, which `ledger http` loads at its start, has a library that asks for it.
test('an account without a home folder has one, as a number that a container was given', (t) => {
  const asStranger = ['--user', '--map-user=4711'];
  if (spawnSync('unshare', [...asStranger, 'true']).status !== 0)
    return t.pass('SKIPPED: this machine makes no namespaces');
  const code = `await import(${JSON.stringify(program)}); console.log((await import('node:os')).homedir())`;
  const node = [process.execPath, '--input-type=module', '--eval', code, 'ledger', 'version'];
  const { stdout, stderr } = spawnSync('unshare', [...asStranger, ...node], { env: {}, encoding: 'utf8' });
  t.regex(stdout, /^\d+\.\d+\.\d+\n\/\n$/, stderr);
});
