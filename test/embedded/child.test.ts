import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { superviseChild } from '../../packages/embedded/child.ts';
import { isAlive, temporaryFolder, until } from './helpers.ts';

type Told = { level: string; text: string; fields: { ending?: string } };

/** A child with the given source, and everything that was logged about it. */
async function childOf(t: ExecutionContext, source: string) {
  const folder = await temporaryFolder(t);
  const modulePath = join(folder, 'child.mjs');
  await writeFile(modulePath, source);
  const told: Told[] = [];
  const note = (level: string) => (fields: unknown, text?: string) =>
    void told.push({ level, text: text ?? '', fields: fields as Told['fields'] });
  const log = { debug: note('debug'), info: note('info'), error: note('error') };
  return { spec: { name: 'child', modulePath, args: ['--port', '1'], log }, told };
}

const pids = (told: readonly Told[]): number[] =>
  told.filter(({ level }) => level === 'info').map(({ text }) => Number(text));

test('starts the child with its arguments, resolves when it is ready, and stop ends it', async (t) => {
  const { spec, told } = await childOf(
    t,
    `console.error(process.argv.slice(2).join(' '));
     process.send({ notice: process.pid });
     process.on('SIGTERM', () => process.exit(0));
     process.on('disconnect', () => process.exit(0));
     process.send({ hello: true });
     process.send({ ready: { port: 1 } });`,
  );
  const child = await superviseChild(spec);
  t.teardown(child.stop);
  const [pid] = await until(() => pids(told).length === 1 && pids(told));
  t.true(isAlive(pid ?? 0));
  await child.stop();
  t.false(isAlive(pid ?? 0));
  t.true(told.some(({ level, text }) => level === 'debug' && text === '--port 1'));
  t.false(
    told.some(({ level }) => level === 'error'),
    'a requested end is not an error',
  );
  await child.stop();
});

test('a child that dies is started again, and its last lines are logged', async (t) => {
  const { spec, told } = await childOf(
    t,
    `process.send({ notice: process.pid });
     process.on('SIGUSR2', () => { console.error('so long'); process.exitCode = 7; process.disconnect(); });
     process.on('disconnect', () => {});
     process.send({ ready: true });`,
  );
  const child = await superviseChild(spec);
  t.teardown(child.stop);
  const [first] = await until(() => pids(told).length === 1 && pids(told));
  process.kill(first ?? 0, 'SIGUSR2');
  const [, second] = await until(() => pids(told).length === 2 && pids(told));
  t.not(first, second);
  t.deepEqual(
    told.filter(({ level }) => level === 'error').map(({ fields }) => fields.ending),
    ['exit code 7\nso long'],
  );
  process.kill(second ?? 0, 'SIGKILL');
  await until(() => pids(told).length === 3);
  await child.stop();
  t.false(isAlive(pids(told)[2] ?? 0));
});

test('a child that never becomes ready is given up after five attempts, with its last lines', async (t) => {
  const { spec, told } = await childOf(t, `console.error('no disk'); process.exit(3);`);
  await t.throwsAsync(superviseChild(spec), { message: 'child does not start: exit code 3\nno disk' });
  t.is(told.filter(({ text }) => text === 'no disk').length, 5);
});

test('stop while a child waits for its restart starts no other', async (t) => {
  const { spec, told } = await childOf(
    t,
    `process.send({ notice: process.pid }); process.send({ ready: true });`,
  );
  const child = await superviseChild(spec);
  t.teardown(child.stop);
  await until(() => told.some(({ level }) => level === 'error'));
  await child.stop();
  const [last] = pids(told).slice(-1);
  t.false(isAlive(last ?? 0));
});
