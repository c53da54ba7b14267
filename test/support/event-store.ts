/** The embedded event store for tests: in this process and in memory, or in a process that tests may kill and freeze. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { startEventStore } from '../../packages/embedded/eventstore/server.ts';
import { temporaryFolder } from '../embedded/helpers.ts';

export type Server = { port: number; url: string };

/** An empty event store in this process, at any port unless one is given. Close its clients first. */
export async function startServer(atPort = 0): Promise<Server & { close(): Promise<void> }> {
  const { port, close } = await startEventStore({ file: ':memory:', host: '127.0.0.1', port: atPort });
  return { port, url: urlAt(port), close };
}

export type ServerProcess = Server & {
  signal(name: NodeJS.Signals): void;
  /** Ends the process with a signal and waits until it is gone. */
  end(name: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same file and port. */
  start(): Promise<void>;
};

/** An event store in a process of its own, on a file of the test's own. */
export async function startServerProcess(t: ExecutionContext, port = 0): Promise<ServerProcess> {
  const file = join(await temporaryFolder(t), 'events.db');
  const script = fileURLToPath(new URL('./event-store-child.ts', import.meta.url));
  let child: ChildProcess;
  const launch = async (onPort: number): Promise<number> => {
    child = fork(script, [file, String(onPort)]);
    const [listening] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    return listening;
  };
  const bound = await launch(port);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  t.teardown(() => end('SIGKILL'));
  return {
    port: bound,
    url: urlAt(bound),
    signal: (name) => void child.kill(name),
    end,
    start: async () => void (await launch(bound)),
  };
}

const urlAt = (port: number) => `esdb://127.0.0.1:${port}?tls=false`;
