/**
 * Connections to the real PostgreSQL. One outlives the session that it served, because a process of the server for each
 * of hundreds of short sessions costs more than what they ask for. Before it serves another, everything that belongs to
 * a session is discarded.
 */
import { once } from 'node:events';
import { Socket, type SocketConstructorOpts } from 'node:net';
import { outside } from '../engine/process.ts';
import type { PostgresServer } from './postgres-server.ts';
import { createSplitter, text, type WireMessage, wireMessage } from './postgres-wire.ts';

export type Backend = Awaited<ReturnType<typeof openBackend>>;
export type Backends = ReturnType<typeof createBackends>;

export function createBackends(server: PostgresServer) {
  const idle = new Map<string, { backend: Backend; welcome: readonly WireMessage[] }[]>();
  const welcomes = new Map<Backend, { key: string; welcome: readonly WireMessage[] }>();

  return {
    /** One for the session that a message opens, and what the server answers to that message. */
    async take(
      start: Buffer,
      applicationName: string,
    ): Promise<{ backend: Backend; welcome: readonly WireMessage[] }> {
      const key = start.toString('latin1');
      const found = idle.get(key)?.pop() ?? (await open(key, start));
      if (!found.backend.hasEnded())
        await ask(found.backend, [`set application_name = '${applicationName.replaceAll("'", "''")}'`]);
      return found;
    },

    /** Takes it back when nobody uses it any more. It has to be at rest. */
    async giveBack(backend: Backend): Promise<void> {
      const kept = welcomes.get(backend);
      if (!kept) return await end(backend);
      const rollback = backend.isInTransaction() ? ['rollback'] : [];
      // Without its name, nobody takes it for a process that is alive.
      await ask(backend, [...rollback, 'discard all', `set application_name = ''`]);
      idle.set(kept.key, [...(idle.get(kept.key) ?? []), { backend, welcome: kept.welcome }]);
    },

    /** Ends it, and waits until the server has let go of its locks. */
    async kill(backend: Backend): Promise<void> {
      welcomes.delete(backend);
      if (!backend.hasEnded()) await server.query('select pg_terminate_backend($1)', [backend.pid()]);
      await backend.closed;
    },

    /** Ends those that serve nobody. */
    async close(): Promise<void> {
      const unused = [...idle.values()].flat();
      idle.clear();
      await Promise.all(unused.map(({ backend }) => end(backend)));
    },
  };

  async function open(key: string, start: Buffer) {
    const backend = await openBackend(server);
    backend.send(start, 1);
    while (!(await backend.rest(1_000)));
    const found = { backend, welcome: backend.takeAnswers() };
    if (!backend.hasEnded()) welcomes.set(backend, { key, welcome: found.welcome });
    return found;
  }
}

/** No client sees the answers. */
export async function ask(backend: Backend, statements: readonly string[]): Promise<readonly WireMessage[]> {
  backend.send(Buffer.concat(statements.map((sql) => wireMessage('Q', text(sql)))), statements.length);
  while (!(await backend.rest(1_000)));
  return backend.takeAnswers();
}

async function end(backend: Backend): Promise<void> {
  backend.send(wireMessage('X', Buffer.alloc(0)), 0);
  await backend.closed;
}

/** What PostgreSQL says when a transaction begins. */
const begun = [wireMessage('C', text('BEGIN')), wireMessage('Z', Buffer.from('T'))].map((bytes) => ({
  type: bytes.toString('latin1', 0, 1),
  bytes,
}));

async function openBackend({ socketPath }: PostgresServer) {
  // One buffer for all that it reads: Node would make one of 64 kB for each message.
  const buffer = Buffer.allocUnsafe(65_536);
  const onread = { buffer, callback: (length: number) => hear(Buffer.from(buffer.subarray(0, length))) };
  const socket = outside(() => new Socket({ onread } as SocketConstructorOpts));
  const split = createSplitter(false);
  let pid = 0;
  let status = 'I';
  /** So many times the server has still to say that it is ready for more. */
  let expected = 0;
  /** What begins a transaction, until the server gets it. */
  let begin: Buffer | null = null;
  /** The server is about to answer that a transaction has begun, which its client knows already. */
  let isBeginning = false;
  let answers: WireMessage[] = [];
  let hasEnded = false;
  let wake = () => {};

  socket.on('error', () => undefined);
  function hear(bytes: Buffer): boolean {
    for (const message of split(bytes)) {
      if (!(isBeginning && 'CZ'.includes(message.type))) answers.push(message);
      if (message.type === 'K') pid = message.bytes.readUInt32BE(5);
      if (message.type !== 'Z') continue;
      status = String.fromCharCode(message.bytes[5] ?? 0);
      expected -= 1;
      isBeginning = false;
    }
    if (expected === 0) wake();
    return true;
  }
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.on('close', () => {
    hasEnded = true;
    expected = 0;
    wake();
    close();
  });
  socket.connect(socketPath);
  await once(socket, 'connect');
  // What Node waits for is listed at every step of a simulation, and the server's process is enough to wait for.
  socket.unref();

  return {
    /** Resolves once the server has ended the connection. */
    closed,
    pid: () => pid,
    hasEnded: () => hasEnded,
    isBusy: () => expected > 0,
    isInTransaction: () => begin !== null || status !== 'I',

    /**
     * The server will begin a transaction when it gets the first statement in it, which saves a round trip. Returns what
     * it says to that. It has to be at rest.
     */
    begin(bytes: Buffer): readonly WireMessage[] {
      begin = bytes;
      return begun;
    },

    /** The server will say `replies` times that it is ready for more. */
    send(bytes: Buffer, replies: number): void {
      expected += replies;
      if (!begin) return void socket.write(bytes);
      expected += 1;
      isBeginning = true;
      socket.write(Buffer.concat([begin, bytes]));
      begin = null;
    },

    /** Resolves to true once everything has been answered or the connection has ended; to false if that takes longer. */
    rest(patienceMs: number): Promise<boolean> {
      if (expected === 0) return Promise.resolve(true);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, patienceMs, false);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
      return promise;
    },

    /** What the server has said since the last time. */
    takeAnswers(): readonly WireMessage[] {
      const said = answers;
      answers = [];
      return said;
    },
  };
}
