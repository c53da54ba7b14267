/** A witness as an HTTP server, which keeps its key and what it signed in a folder. */
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import type { Log } from '@ledger/kernel/log.ts';
import { makeFolder } from '@ledger/kernel/make-folder.ts';
import { readAtMost } from '@ledger/kernel/read-at-most.ts';
import { codeOf } from '@ledger/kernel/reason-of.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { readIfThere, replaceFile } from '@ledger/kernel/whole-file.ts';
import { sealKeyOf } from './key.ts';
import { rawKeyOf, type Verifier, verifierText } from './note.ts';
import { createWitness } from './witness.ts';

const maxBody = 64 * 1024;

type Options = {
  name: string;
  /** The logs whose checkpoints it signs. */
  logs: readonly Verifier[];
  /** Made if there is none. */
  folder: string;
  log: Log;
  runtime: Pick<Runtime, 'now' | 'randomBytes'>;
};

/** Does not listen yet. `verifier` is the line by which others check what it signs; GET answers with it. */
export async function createWitnessServer({
  name,
  logs,
  folder,
  log,
  runtime,
}: Options): Promise<{ server: Server; verifier: string }> {
  makeFolder(folder, 0o700);
  const key = sealKeyOf(await seedIn(join(folder, 'key'), runtime));
  const add = createWitness({ name, key, logs, kept: filesIn(folder), now: () => runtime.now() });
  const verifier = verifierText({ kind: 'witness', name, publicKey: rawKeyOf(key.publicKey) });
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || !request.url?.endsWith('/add-checkpoint')) {
      const status = request.method === 'GET' ? 200 : 404;
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${verifier}\n`);
      return;
    }
    try {
      const body = await readAtMost(request, maxBody);
      const { status, type, text } = await add(Buffer.from(body ?? []).toString());
      log.info({ status }, 'a checkpoint was offered');
      response.writeHead(status, { 'Content-Type': type }).end(text);
    } catch (error) {
      log.error({ reason: codeOf(error) }, 'a checkpoint could not be taken');
      response.writeHead(500).end();
    }
  });
  return { server, verifier };
}

/** Its own key, made at the first start; 64 hexadecimal digits. */
async function seedIn(file: string, runtime: Pick<Runtime, 'randomBytes'>): Promise<string> {
  const kept = await readIfThere(file);
  if (kept !== null) return kept.trim();
  const made = runtime.randomBytes(32).toString('hex');
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
