/** `ledger witness`: a witness for the checkpoints of a ledger, on somebody else's machine. Needs no configuration. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { StartError } from '@ledger/embedded/start-error.ts';
import { createLog } from '@ledger/kernel/log.ts';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { readAtMost } from '@ledger/kernel/read-at-most.ts';
import { codeOf, reasonOf } from '@ledger/kernel/reason-of.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { rawKeyOf, readVerifier, verifierText } from '@ledger/transparency-log/note.ts';
import { createWitness } from '@ledger/transparency-log/witness.ts';
import { runUntilSignal } from '../roles/lifecycle.ts';
import { type CommandOf, readableFile, readPort, UsageError } from './command.ts';

const maxBody = 64 * 1024;

export const command: CommandOf<'witness'> = async ({
  name = '',
  'log-key': logKey = '',
  folder = 'witness',
  host = '127.0.0.1',
  port = '8700',
}) => {
  if (!/^[^\s+]+$/.test(name)) throw new UsageError('--name must be a name such as witness.example.my/1');
  const chosenPort = readPort(port);
  const logs =
    logKey === '' ? [] : readFileSync(readableFile(logKey), 'utf8').trim().split('\n').map(readVerifier);
  const known = logs.filter((each) => each !== null);
  if (known.length === 0 || known.length < logs.length)
    throw new UsageError('--log-key must be a file with the keys that `ledger seals` prints, one per line');
  makeFolder(folder, 0o700);
  const key = sealKeyOf(await seedIn(join(folder, 'key')));
  const add = createWitness({
    name,
    key,
    logs: known,
    kept: filesIn(folder),
    now: () => systemRuntime.now(),
  });
  const log = createLog('info', 'witness');
  const own = verifierText({ kind: 'witness', name, publicKey: rawKeyOf(key.publicKey) });
  return await runUntilSignal(log, async (started) => {
    const server = createServer(async (request, response) => {
      if (request.method !== 'POST' || !request.url?.endsWith('/add-checkpoint')) {
        response
          .writeHead(request.method === 'GET' ? 200 : 404, { 'Content-Type': 'text/plain' })
          .end(`${own}\n`);
        return;
      }
      try {
        const body = await readAtMost(request, maxBody);
        const { status, type, text: said } = await add(Buffer.from(body ?? []).toString());
        log.info({ status }, 'a checkpoint was offered');
        response.writeHead(status, { 'Content-Type': type }).end(said);
      } catch (error) {
        log.error({ reason: codeOf(error) }, 'a checkpoint could not be taken');
        response.writeHead(500).end();
      }
    });
    await once(server.listen(chosenPort, host), 'listening').catch((cause) => {
      const why = `The witness cannot listen on ${host}:${port}: ${reasonOf(cause)}.`;
      throw new StartError(`${why} Choose another --port or --host.`, { cause });
    });
    log.info({ key: own, address: server.address() }, 'witness listening');
    started({
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    });
  });
};

/** Its own key, made at the first start; 64 hexadecimal digits. */
async function seedIn(file: string): Promise<string> {
  const kept = await readIfThere(file);
  if (kept !== null) return kept.trim();
  const made = systemRuntime.randomBytes(32).toString('hex');
  await replaceFile(file, made, 0o600);
  return made;
}

function filesIn(folder: string) {
  const fileOf = (origin: string) => join(folder, `checkpoint-${encodeURIComponent(origin)}`);
  return {
    load: (origin: string) => readIfThere(fileOf(origin)),
    save: (origin: string, note: string) => replaceFile(fileOf(origin), note),
  };
}
