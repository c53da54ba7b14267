// How what a process has started is stopped.
import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { pino } from 'pino';
import { loadConfig } from '../../src/config/config.ts';
import { followFiles, stopAll, warnOfRisks } from '../../src/roles/lifecycle.ts';
import { temporaryFolder, until } from '../embedded/helpers.ts';
import { settingsFor } from '../support/ledger.ts';

test('everything is stopped in the reverse order, also when something fails, and the first failure is thrown', async (t) => {
  const stopped: string[] = [];
  const part = (name: string, failure?: Error) => ({
    async stop() {
      stopped.push(name);
      if (failure) throw failure;
    },
  });
  const first = new Error('first');
  await t.throwsAsync(stopAll([part('a'), part('b', new Error('second')), part('c', first), part('d')]), {
    is: first,
  });
  t.deepEqual(stopped, ['d', 'c', 'b', 'a']);
});

for (const [what, changes, isWarned] of [
  ['on this machine', {}, false],
  ['behind a proxy', { baseUrl: 'https://pay.agency.example' }, true],
  ['on every address', { host: '0.0.0.0' }, true],
  ['in production', { baseUrl: 'https://pay.agency.example', production: true }, false],
] as const)
  test(`whether a start warns that it is development, ${what}`, (t) => {
    const local = { baseUrl: 'http://localhost:5173', host: '127.0.0.1', exceptions: new Map() };
    const warned: unknown[] = [];
    warnOfRisks(
      { ...local, production: false, ...changes },
      { warn: (message: unknown) => void warned.push(message) },
    );
    t.is(warned.length, isWarned ? 1 : 0);
  });

test('a signal during the start stops what runs, and nothing more is started', async (t) => {
  const program = `
    import { runUntilSignal } from '${new URL('../../src/roles/lifecycle.ts', import.meta.url)}';
    const tell = (what) => console.log(what);
    const part = (name) => ({ stop: async () => tell(name + ' stopped') });
    const log = { info: (fields, message) => tell(message ?? fields) };
    await runUntilSignal(log, async (started) => {
      started(part('first'));
      process.emit('SIGINT', 'SIGINT');
      started(part('second'));
      started(part('third'));
    });`;
  // A process of its own, because it is disconnected from its parent at the end.
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  t.is((await run).stdout, 'stopping\nsecond stopped\nfirst stopped\nstopped\n');
});

test('an error that nobody catches is logged, and ends the program', async (t) => {
  const program = `
    import { runUntilSignal } from '${new URL('../../src/roles/lifecycle.ts', import.meta.url)}';
    const log = { info() {}, fatal: ({ err }, message) => console.log(err.message, message) };
    await runUntilSignal(log, async () => {
      setTimeout(() => { throw new Error('a fault:'); });
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  t.deepEqual([code, stdout], [70, 'a fault: an error was not caught: the process ends\n']);
});

for (const before of ['', `await new Promise((resolve) => process.once('disconnect', resolve));`])
  test(`a forked program stops when its parent ends, ${before ? 'also before it has begun' : 'later'}`, async (t) => {
    const file = join(await temporaryFolder(t), 'program.mjs');
    const program = `
      import { runUntilSignal } from '${new URL('../../src/roles/lifecycle.ts', import.meta.url)}';
      setInterval(() => {}, 1_000);
      process.send('begun');
      ${before}
      const log = { info: (fields, message) => console.log(fields.reason ?? message ?? fields) };
      await runUntilSignal(log, async () => {});
      process.exit();`;
    writeFileSync(file, program);
    const child = fork(file, { execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    t.teardown(() => child.kill('SIGKILL'));
    let printed = '';
    child.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
    await once(child, 'message');
    if (!before) await until(() => printed === 'started\n');
    const ended = Promise.all([once(child, 'exit'), child.stdout && once(child.stdout, 'end')]);
    child.disconnect();
    t.timeout(20_000);
    t.deepEqual((await ended)[0], [0, null]);
    t.is(printed, `${before ? '' : 'started\n'}the parent process ended\nstopped\n`);
  });

/** A program that gets this signal again after `pauseMs`, while it stops. */
async function signalledTwice(pauseMs: number): Promise<{ code: number | null; stdout: string }> {
  const program = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { runUntilSignal } from '${new URL('../../src/roles/lifecycle.ts', import.meta.url)}';
    const log = { info() {} };
    // As what a role runs would.
    const alive = setInterval(() => {}, 1_000);
    await runUntilSignal(log, async (started) => {
      started({
        async stop() {
          await sleep(${pauseMs});
          process.kill(process.pid, 'SIGTERM');
          await sleep(200);
          console.log('stopped');
          clearInterval(alive);
        },
      });
      process.kill(process.pid, 'SIGTERM');
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code, stdout };
}

test('a signal that npm passes on, beside the one that reached the program itself, is not a second one', async (t) => {
  t.deepEqual(await signalledTwice(50), { code: 0, stdout: 'stopped\n' });
});

test('a second signal ends the program at once', async (t) => {
  t.deepEqual(await signalledTwice(1_200), { code: 1, stdout: '' });
});

test('a disk that does not answer keeps no process from ending: at once after a second signal, otherwise after 15 s', async (t) => {
  t.timeout(60_000);
  const pipe = join(await temporaryFolder(t), 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const lifecycle = new URL('../../src/roles/lifecycle.ts', import.meta.url);
  // A pipe that nobody writes to is opened as slowly as a file on such a disk.
  const program = (stop: string, isStarted: boolean) => `
    import { open } from 'node:fs/promises';
    import { runUntilSignal } from '${lifecycle}';
    const log = { fatal() {}, info: (fields, message) => console.log(message ?? fields), warn: console.log };
    const opened = open('${pipe}');
    const start = async (started) => {
      started({ stop: async () => ${stop} });
      if (!${isStarted}) throw new Error('a fault');
    };
    // As main.ts does.
    await runUntilSignal(log, start).catch(() => console.log('failed'));
    process.exit();`;
  const run = async (stop: string, signals: number) => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program(stop, signals > 0)]);
    const closed = once(child, 'close');
    t.teardown(() => child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    if (signals > 0) await until(() => printed.includes('started'));
    for (let sent = 0; sent < signals && child.signalCode === null; sent += 1) {
      child.kill('SIGTERM');
      if (signals > 1) await sleep(1_200);
    }
    return await closed;
  };
  const fault = `{ throw new Error('a fault') }`;
  const ends = [run('opened', 2), run('opened', 1), run('{}', 1), run(fault, 1), run('{}', 0)];
  t.deepEqual(await Promise.all(ends), Array(5).fill([null, 'SIGKILL']));
});

test('files: a missing one is reported once, half a one is not adopted, and what mends a fault is noticed', async (t) => {
  const folder = await temporaryFolder(t);
  const [secret, merchants] = [join(folder, 'secret'), join(folder, 'merchants.yaml')];
  const secretOfMerchant = join(folder, 'secret-of-a');
  const write = (more = '') =>
    writeFileSync(merchants, `merchants:\n  a:\n    name: A\n    id: 1\n    api_keys: [key-of-a]\n${more}`);
  write();
  writeFileSync(secret, 'first');
  const { GATEWAY_SECRET: _, ...settings } = settingsFor({
    esdbUrl: 'esdb://127.0.0.1:9?tls=false',
    databaseUrl: 'postgres://127.0.0.1:9/none',
  });
  const load = () => loadConfig({ ...settings, GATEWAY_SECRET_FILE: secret, MERCHANTS_FILE: merchants });
  const config = load();
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const following = followFiles(config, load, log);
  t.teardown(following.stop);

  // A slow program writes it; the loop looks every second.
  const used = new Set<string>();
  const watching = setInterval(() => used.add(config.gateway.secret), 20);
  t.teardown(() => clearInterval(watching));
  const second = 'the-second-one';
  for (let length = 0; length <= second.length; length += 2) {
    writeFileSync(secret, second.slice(0, length));
    await sleep(300);
  }
  await until(() => config.gateway.secret === second);
  t.deepEqual([...used.add(config.gateway.secret)], ['first', second]);

  logged.length = 0;
  rmSync(secret);
  await until(() => config.refused.length > 0);
  await sleep(1_500);
  t.is(logged.length, 1);
  writeFileSync(secret, 'third');
  await until(() => config.gateway.secret === 'third');

  write(`    webhook_secret_file: ${secretOfMerchant}\n`);
  await until(() => config.refused.length > 0);
  writeFileSync(secretOfMerchant, 'a secret of at least 24 characters'.replaceAll(' ', '-'));
  // It appears before anybody can have looked at it since it was found missing.
  await until(() => config.merchants.get('a')?.webhookSecrets.length === 1);
  t.deepEqual(config.refused, []);
});
