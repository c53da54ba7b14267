/**
 * PostgreSQL on the simulated network: a real server does the work, and what goes to it and comes from it passes
 * through here. One message of a client is carried out at a time, until its session is idle again or waits for a lock,
 * so that the order in which transactions meet depends on the simulation alone.
 */
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from '../engine/history.ts';
import type { Connection, Network, Receiver } from '../engine/network.ts';
import { outside, type SimulatedProcess } from '../engine/process.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { PostgresServer } from './postgres-server.ts';
import {
  createSplitter,
  createUnnaming,
  fatalError,
  rewriteStart,
  sqlOf,
  type TimedSettings,
  wireMessage,
  withClock,
} from './postgres-wire.ts';

export type SimulatedPostgres = {
  /** Ends all sessions, whose transactions roll back, and refuses new ones until `start`. */
  crash(): void;
  start(): void;
  close(): Promise<void>;
};

/** How long the server may take before we ask whether the session waits for a lock. */
const patienceMs = 5;

export function createPostgres({
  server,
  database,
  process,
  network,
  scheduler,
  history,
}: {
  server: PostgresServer;
  database: string;
  /** The machine on which it runs. */
  process: SimulatedProcess;
  network: Network;
  scheduler: Scheduler;
  history: History;
}): SimulatedPostgres {
  const sessions = new Set<Session>();
  let stopListening: (() => void) | null = null;
  // One at a time, in the order in which the messages arrived.
  let turn: Promise<unknown> = Promise.resolve();

  const inTurn = (work: () => Promise<void>) => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };

  async function carryOut(session: Session, bytes: Buffer): Promise<void> {
    if (session.ended) return;
    await session.send(bytes, new Date(process.nowMs()));
    if (session.isLeaving()) return end(session);
    await settleAll(session);
  }

  /** Waits for this session, then for others that its transaction may have released, and for what was announced. */
  async function settleAll(session: Session): Promise<void> {
    await session.settle();
    if (!session.isInTransaction()) await release();
    if (session.hasAnnounced())
      for (const other of sessions) if (other.isListening) await other.fetchAnnounced();
    for (const each of sessions) each.reply();
  }

  /** Lets those go on that wait for a lock no longer; one of them may release others. */
  async function release(): Promise<void> {
    for (;;) {
      const waiting = [...sessions].filter((each) => each.isWaiting());
      if (waiting.length === 0) return;
      const { rows } = await server.query(
        'select pid from unnest($1::integer[]) as pid where cardinality(pg_blocking_pids(pid)) = 0',
        [waiting.map(({ pid }) => pid())],
      );
      const free = new Set(rows.map(({ pid }) => pid));
      const next = waiting.find(({ pid }) => free.has(pid()));
      if (!next) return;
      await next.settle();
    }
  }

  async function end(session: Session): Promise<void> {
    if (!sessions.delete(session)) return;
    await session.terminate();
    await release();
    for (const each of sessions) each.reply();
  }

  function accept(connection: Connection): Receiver {
    const session = createSession({ server, database, process, connection, onExpired: expire });
    sessions.add(session);
    const arriving = (work: () => Promise<void>) => schedule(() => inTurn(work));
    return {
      message: (bytes) => arriving(() => carryOut(session, bytes as Buffer)),
      ended: () => arriving(() => end(session)),
      broken: () => arriving(() => end(session)),
    };
  }

  const drop = (session: Session) => schedule(() => inTurn(() => end(session)));
  const expire = (session: Session) =>
    schedule(() =>
      inTurn(async () => {
        if (!session.isWaiting()) return end(session);
        await session.cancel();
        await settleAll(session);
      }),
    );
  // As an event of its own, whose promise the scheduler waits for.
  const schedule = (work: () => unknown) => void scheduler.after(0, work);

  const start = () => {
    stopListening ??= network.listen(process, 'postgres:5432', accept);
  };
  start();

  return {
    crash() {
      stopListening?.();
      stopListening = null;
      history.tell('postgres: crashes');
      for (const session of sessions) {
        session.connection.reset();
        drop(session);
      }
    },
    start() {
      history.tell('postgres: runs again');
      start();
    },
    async close() {
      for (const session of sessions) await session.terminate();
      sessions.clear();
    },
  };
}

type Session = ReturnType<typeof createSession>;

function createSession({
  server,
  database,
  process,
  connection,
  onExpired,
}: {
  server: PostgresServer;
  database: string;
  process: SimulatedProcess;
  connection: Connection;
  /** Its statement waited for too long, or its transaction was idle for too long. */
  onExpired(session: Session): void;
}) {
  const splitRequests = createSplitter(true);
  const unname = createUnnaming();
  const splitAnswers = createSplitter(false);
  const socket = outside(() => new Socket());
  let pid = 0;
  let expected = 0;
  let answers: Buffer[] = [];
  let announced = false;
  let hidden = 0;
  let timed: TimedSettings = {};
  let status = 'I';
  let blocked = false;
  let isLeaving = false;
  let isClosed = false;
  let cancelTimer = () => {};
  let arrived = Promise.withResolvers<void>();

  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    for (const message of splitAnswers(bytes)) take(message.type, message.bytes);
    arrived.resolve();
  });
  socket.on('close', () => {
    isClosed = true;
    expected = 0;
    arrived.resolve();
  });

  function take(type: string, bytes: Buffer): void {
    if (type === 'K') pid = bytes.readUInt32BE(5);
    if (type === 'Z') {
      status = String.fromCharCode(bytes[5] ?? 0);
      if (hidden > 0 && expected === hidden) {
        hidden -= 1;
        expected -= 1;
        return;
      }
      expected -= 1;
    }
    if (hidden > 0 && expected === hidden && type === 'I') return;
    answers.push(Buffer.from(bytes));
  }

  const self = {
    connection,
    ended: false,
    isListening: false,
    pid: () => pid,
    isLeaving: () => isLeaving,
    isWaiting: () => blocked,
    isInTransaction: () => !blocked && status !== 'I',
    hasAnnounced: () => {
      const was = announced && status === 'I';
      if (was) announced = false;
      return was;
    },

    async send(bytes: Buffer, now: Date): Promise<void> {
      cancelTimer();
      for (const message of splitRequests(bytes).flatMap(unname)) {
        if (message.type === 'start') {
          const start = rewriteStart(message.bytes, database);
          timed = start.timed;
          socket.connect(server.port, '127.0.0.1');
          await once(socket, 'connect');
          socket.write(start.bytes);
          expected += 1;
          continue;
        }
        if (message.type === 'X') {
          isLeaving = true;
          return;
        }
        const sql = sqlOf(message);
        if (/\bpg_notify\b|^\s*notify\b/i.test(sql)) announced = true;
        if (/^\s*listen\b/i.test(sql)) self.isListening = true;
        if (message.type === 'Q' || message.type === 'S') expected += 1;
        socket.write(withClock(message, now));
      }
    },

    /** Resolves once the session is idle, has ended or waits for a lock. */
    async settle(): Promise<void> {
      blocked = false;
      while (expected > 0 && !isClosed) {
        arrived = Promise.withResolvers();
        const isEarly = await Promise.race([arrived.promise.then(() => true), sleep(patienceMs, false)]);
        if (isEarly || pid === 0) continue;
        const { rows } = await server.query('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [pid]);
        if (rows[0]?.blocked && expected > 0) {
          blocked = true;
          self.watch(timed.statement_timeout, () => onExpired(self));
          return;
        }
      }
      if (isClosed) self.ended = true;
      else if (status === 'T' || status === 'E')
        self.watch(timed.idle_in_transaction_session_timeout, () => {
          connection.send(fatalError('25P03', 'terminating connection due to idle-in-transaction timeout'));
          onExpired(self);
        });
    },

    /** Interrupts the statement that waits for a lock. */
    async cancel(): Promise<void> {
      await server.query('select pg_cancel_backend($1)', [pid]);
      while (self.isWaiting() && expected > 0 && !self.ended) {
        arrived = Promise.withResolvers();
        await Promise.race([arrived.promise, sleep(patienceMs)]);
      }
      blocked = false;
    },

    /** Calls `run` unless the client sends something within the time. */
    watch(limitMs: number | undefined, run: () => unknown): void {
      cancelTimer();
      if (limitMs) cancelTimer = process.after(limitMs, run);
    },

    /** Asks for what others have announced: PostgreSQL sends it before the answer to the next message. */
    async fetchAnnounced(): Promise<void> {
      if (self.ended || expected > 0 || status !== 'I') return;
      hidden += 1;
      expected += 1;
      socket.write(wireMessage('Q', Buffer.from([0])));
      await self.settle();
    },

    /** Sends the client what the server has said. */
    reply(): void {
      if (answers.length > 0) connection.send(Buffer.concat(answers));
      answers = [];
      if (self.ended) connection.end();
    },

    /** Ends it, and waits until the server has let go of its locks. */
    async terminate(): Promise<void> {
      cancelTimer();
      connection.end();
      self.ended = true;
      if (isClosed || socket.pending) return void socket.destroy();
      const closed = once(socket, 'close');
      if (isLeaving && !blocked) socket.write(wireMessage('X', Buffer.alloc(0)));
      else await server.query('select pg_terminate_backend($1)', [pid]);
      await closed;
    },
  };
  return self;
}
