// `ledger witness` as whoever runs one meets it.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { sealKeyOf } from '@ledger/transparency-log/key.ts';
import { rawKeyOf, verifierText } from '@ledger/transparency-log/note.ts';
import test from 'ava';
import { temporaryFolder } from '../embedded/helpers.ts';
import { runLedger } from '../support/ledger.ts';

test('a port that is taken: the sentence names the option, not a variable that the command does not read', async (t) => {
  const folder = await temporaryFolder(t);
  const keys = join(folder, 'log.pub');
  const publicKey = rawKeyOf(sealKeyOf('5'.repeat(64)).publicKey);
  await writeFile(keys, verifierText({ kind: 'log', name: 'ledger.example.my', publicKey }));
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const named = ['--name', 'w/1', '--log-key', keys, '--folder', join(folder, 'witness')];
  // In a process of its own, as a role.
  const { code, stderr } = await runLedger(['witness', ...named, '--port', String(port)], {}, {});
  t.is(code, 1);
  t.regex(stderr, /^The witness cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/m);
  t.regex(stderr, /Choose another --port or --host\.$/m);
});
