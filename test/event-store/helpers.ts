/** An event store to kill, freeze and restart, a wire to cut, and a connection: what these tests share. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connectEventStore } from '@ledger/event-store/client.ts';
import type { EventStore, NewEvent } from '@ledger/event-store/event-store.ts';
import type { Runtime } from '@ledger/kernel/runtime.ts';
import { systemRuntime } from '@ledger/kernel/system-runtime.ts';
import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { type Server, startServer as startInProcess } from '../support/event-store.ts';

/** The embedded event store in this process, at any port unless one is given; ended with the test. */
export async function startServer(t: ExecutionContext, port?: number): Promise<Server> {
  const { close, ...server } = await startInProcess(port);
  t.teardown(close);
  return server;
}

export type Wire = {
  port: number;
  /** Bytes that came to the relay so far, lost ones included. */
  bytes: { requests: number; answers: number };
  /** What is swallowed, by direction, as if the network lost it. */
  lost: { requests: boolean; answers: boolean };
  connections: Set<Socket>;
  /** Breaks every connection and loses nothing from then on. */
  cut(): void;
};

/** A TCP relay in front of the server, to lose requests or answers on purpose. */
export async function startWire(t: ExecutionContext, serverPort: number): Promise<Wire> {
  const wire: Wire = {
    port: 0,
    bytes: { requests: 0, answers: 0 },
    lost: { requests: false, answers: false },
    connections: new Set(),
    cut() {
      for (const near of wire.connections) near.destroy();
      wire.lost = { requests: false, answers: false };
    },
  };

  function forward(from: Socket, to: Socket, direction: 'requests' | 'answers') {
    from.setNoDelay(true);
    from.on('data', (chunk) => {
      wire.bytes[direction] += chunk.length;
      if (wire.lost[direction] || to.write(chunk)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('error', () => {});
    from.on('close', () => to.destroy());
  }

  const relay = createServer((near) => {
    const far = connect(serverPort, '127.0.0.1');
    wire.connections.add(near);
    near.on('close', () => wire.connections.delete(near));
    forward(near, far, 'requests');
    forward(far, near, 'answers');
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  wire.port = (relay.address() as AddressInfo).port;
  t.teardown(() => {
    wire.cut();
    relay.close();
  });
  return wire;
}

export type Logged = { level: 'info' | 'warn'; message: string };

function readLine(line: string): Logged {
  const { level, msg: message } = JSON.parse(line);
  return { level, message };
}

/** A connection to a URL, or to a server of this machine, that is closed after the test, and what it logged. */
export function open(
  t: ExecutionContext,
  place: number | string,
  options: { settings?: string; callDeadlineMs?: number; giveUpAfterMs?: number; runtime?: Runtime } = {},
): EventStore & { logged: Logged[] } {
  const { settings = '', runtime = systemRuntime, ...deadlines } = options;
  const logged: Logged[] = [];
  const formatters = { level: (level: string) => ({ level }) };
  const log = pino({ formatters }, { write: (line: string) => void logged.push(readLine(line)) });
  const store = connectEventStore({
    url: typeof place === 'string' ? place : `esdb://127.0.0.1:${place}?tls=false${settings}`,
    log,
    ...deadlines,
    runtime,
  });
  t.teardown(() => store.close());
  return { ...store, logged };
}

export function newEvent(data: unknown = { some: 'thing' }): NewEvent {
  return { id: randomUUID(), type: 'SomethingHappened', data, metadata: { actor: 'test' } };
}

export const range = (length: number) => Array.from({ length }, (_, index) => index);
