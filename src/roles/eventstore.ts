/** `ledger eventstore`: the embedded EventStoreDB on its own. `ledger serve` runs it as its child. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { startEventStore } from '@ledger/embedded/eventstore/server.ts';
import { type Command, text, UsageError } from '../cli/command.ts';
import { createLog } from '../kernel/log.ts';
import { runUntilSignal } from './lifecycle.ts';

export const eventstore: Command = {
  summary: 'the embedded event store alone',
  usage: '[--port 2113] [--host 127.0.0.1] [--data data/eventstore.db]',
  options: { port: text, host: text, data: text },
  async run({ port = '2113', host = '127.0.0.1', data = 'data/eventstore.db' }) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new UsageError('--port must be a number from 0 to 65535');
    const log = createLog('info', 'eventstore');
    // Only this account may read its files.
    process.umask(0o077);
    mkdirSync(dirname(data), { recursive: true });
    return runUntilSignal(log, async () => {
      const server = await startEventStore({ file: data, host, port: Number(port) });
      log.info({ address: `esdb://${host}:${server.port}?tls=false`, file: data }, 'event store listening');
      process.send?.({ ready: { port: server.port } });
      return { stop: () => server.close() };
    });
  },
};
