/** `ledger witness`: a witness for the checkpoints of a ledger, on somebody else's machine. Needs no configuration. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { StartError } from '@ledger/embedded/start-error.ts';
import { createLog } from '@ledger/kernel/log.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import { readVerifier } from '@ledger/transparency-log/note.ts';
import { createWitnessServer } from '@ledger/transparency-log/witness-server.ts';
import { runUntilSignal } from '../roles/lifecycle.ts';
import { type CommandOf, readableFile, readPort, UsageError } from './command.ts';

export const command: CommandOf<'witness'> = async ({
  name = '',
  'log-key': logKey = '',
  folder = 'witness',
  host = '127.0.0.1',
  port = '8700',
}) => {
  if (!/^[^\s+]+$/.test(name)) throw new UsageError('--name must be a name such as witness.example.my/1');
  const chosenPort = readPort(port);
  const named =
    logKey === '' ? [] : readFileSync(readableFile(logKey), 'utf8').trim().split('\n').map(readVerifier);
  const logs = named.filter((each) => each !== null);
  if (logs.length === 0 || logs.length < named.length)
    throw new UsageError('--log-key must be a file with the keys that `ledger seals` prints, one per line');
  const log = createLog('info', 'witness');
  const { server, verifier } = await createWitnessServer({ name, logs, folder, log, runtime: systemRuntime });
  return await runUntilSignal(log, async (started) => {
    await once(server.listen(chosenPort, host), 'listening').catch((cause) => {
      const why = `The witness cannot listen on ${host}:${port}: ${reasonOf(cause)}.`;
      throw new StartError(`${why} Choose another --port or --host.`, { cause });
    });
    log.info({ key: verifier, address: server.address() }, 'witness listening');
    started({
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    });
  });
};
