// A witness over HTTP, and after a restart: its key and what it has signed are in its folder.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import {
  checkpointText,
  parseNote,
  rawKeyOf,
  readVerifier,
  signatureLine,
  signedAt,
} from '@ledger/transparency-log/note.ts';
import { growTree, leafHash } from '@ledger/transparency-log/tree.ts';
import { createWitnessServer } from '@ledger/transparency-log/witness-server.ts';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';
import { log } from '../projections/helpers.ts';

const logKey = sealKeyOf('1a'.repeat(32));
const origin = 'log.example';
const logs = [{ kind: 'log' as const, name: origin, publicKey: rawKeyOf(logKey.publicKey) }];

async function serve(t: ExecutionContext, folder: string) {
  const made = await createWitnessServer({ name: 'w.example/1', logs, folder, log, runtime: systemRuntime });
  await once(made.server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => made.server.close());
  t.teardown(() => made.server.closeAllConnections());
  const url = `http://127.0.0.1:${(made.server.address() as AddressInfo).port}`;
  const offer = async (body: string) => {
    const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    };
  };
  return { ...made, url, offer };
}

test('it cosigns what is offered, and still knows it after a restart', async (t) => {
  const folder = join(await temporaryFolder(t), 'made', 'witness');
  const first = await serve(t, folder);
  const tree = growTree();
  const notes = ['one', 'two'].map((each) => {
    tree.add(leafHash(Buffer.from(each)));
    const body = checkpointText({ origin, size: tree.size(), root: tree.root() });
    return `${body}\n${signatureLine(body, origin, logKey)}`;
  });
  const [one = '', two = ''] = notes;
  const signed = await first.offer(`old 0\n\n${one}`);
  t.is(signed.status, 200);
  const verifier = readVerifier(first.verifier);
  const note = parseNote(one + signed.text);
  t.true(verifier !== null && note !== null && signedAt(note, verifier) !== null);
  t.is(await (await fetch(first.url)).text(), `${first.verifier}\n`);
  t.is((await fetch(first.url, { method: 'PUT' })).status, 404);

  const again = await serve(t, folder);
  t.is(again.verifier, first.verifier, 'the key is that of the first start');
  t.deepEqual(await again.offer(`old 0\n\n${two}`), { status: 409, type: 'text/x.tlog.size', text: '1\n' });

  const kept = join(folder, `checkpoint-${origin}`);
  t.true((await readFile(kept, 'utf8')).startsWith(one));
  await writeFile(kept, 'damaged');
  t.is((await again.offer(`old 0\n\n${one}`)).status, 500, 'and it does not sign from the beginning');
});
