/**
 * PostgreSQL on the simulated network: a real server does the work, and what goes to it and comes from it passes
 * through here. One message of a client is carried out at a time, until its session is idle again or waits for a lock,
 * so that the order in which transactions meet depends on the simulation alone.
 */
import type { History } from '../engine/history.ts';
import type { Connection, Network, Receiver } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { type Backend, type Backends, createBackends } from './postgres-backend.ts';
import type { PostgresServer } from './postgres-server.ts';
import {
  announces,
  begins,
  createSplitter,
  createUnnaming,
  fatalError,
  rewriteStart,
  sqlOf,
  type TimedSettings,
  type WireMessage,
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
  const backends = createBackends(server);
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
    const session = createSession({
      server,
      backends,
      database,
      process,
      connection,
      onExpired: expire,
    });
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
      await backends.close();
    },
  };
}

type Session = ReturnType<typeof createSession>;

function createSession({
  server,
  backends,
  database,
  process,
  connection,
  onExpired,
}: {
  server: PostgresServer;
  backends: Backends;
  database: string;
  process: SimulatedProcess;
  connection: Connection;
  /** Its statement waited for too long, or its transaction was idle for too long. */
  onExpired(session: Session): void;
}) {
  const splitRequests = createSplitter(true);
  const unname = createUnnaming();
  let backend: Backend | null = null;
  let answers: Buffer[] = [];
  let announced = false;
  let timed: TimedSettings = {};
  let blocked = false;
  let isLeaving = false;
  // Within a group of messages that the server has not been asked to end.
  let isOpen = false;
  let cancelTimer = () => {};

  const hear = (said: readonly WireMessage[]) => void answers.push(...said.map(({ bytes }) => bytes));

  const self = {
    connection,
    ended: false,
    isListening: false,
    pid: () => backend?.pid() ?? 0,
    isLeaving: () => isLeaving,
    isWaiting: () => blocked,
    isInTransaction: () => !blocked && backend?.isInTransaction() === true,
    hasAnnounced: () => {
      const was = announced && backend?.isInTransaction() === false;
      if (was) announced = false;
      return was;
    },

    async send(bytes: Buffer, now: Date): Promise<void> {
      cancelTimer();
      const given: Buffer[] = [];
      let replies = 0;
      for (const message of splitRequests(bytes).flatMap(unname)) {
        if (message.type === 'start') {
          const start = rewriteStart(message.bytes, database);
          timed = start.timed;
          const taken = await backends.take(start.bytes, start.applicationName);
          backend = taken.backend;
          hear(taken.welcome);
          continue;
        }
        if (message.type === 'X') {
          isLeaving = true;
          break;
        }
        const sql = sqlOf(message);
        if (announces(sql)) announced = true;
        if (/^\s*listen\b/i.test(sql)) self.isListening = true;
        if (backend && given.length === 0 && begins(sql) && !backend.isInTransaction()) {
          hear(backend.begin(message.bytes));
          continue;
        }
        isOpen = message.type !== 'Q' && message.type !== 'S';
        if (!isOpen) replies += 1;
        given.push(withClock(message, now));
      }
      // In one piece, which wakes the server once.
      if (given.length > 0) backend?.send(Buffer.concat(given), replies);
    },

    /** Resolves once the session is idle, has ended or waits for a lock. */
    async settle(): Promise<void> {
      if (!backend) return;
      blocked = false;
      while (!(await backend.rest(patienceMs))) {
        const { rows } = await server.query('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [
          backend.pid(),
        ]);
        if (!rows[0]?.blocked || !backend.isBusy()) continue;
        blocked = true;
        self.watch(timed.statement_timeout, () => onExpired(self));
        break;
      }
      hear(backend.takeAnswers());
      if (backend.hasEnded()) self.ended = true;
      else if (!blocked && backend.isInTransaction())
        self.watch(timed.idle_in_transaction_session_timeout, () => {
          connection.send(fatalError('25P03', 'terminating connection due to idle-in-transaction timeout'));
          onExpired(self);
        });
    },

    /** Interrupts the statement that waits for a lock. */
    async cancel(): Promise<void> {
      if (!backend || !blocked) return;
      await server.query('select pg_cancel_backend($1)', [backend.pid()]);
      while (!(await backend.rest(patienceMs)));
      blocked = false;
    },

    /** Calls `run` unless the client sends something within the time. */
    watch(limitMs: number | undefined, run: () => unknown): void {
      cancelTimer();
      if (limitMs) cancelTimer = process.after(limitMs, run);
    },

    /** Asks for what others have announced: PostgreSQL sends it before the answer to the next message. */
    async fetchAnnounced(): Promise<void> {
      if (self.ended || !backend || backend.isBusy() || backend.isInTransaction()) return;
      backend.send(wireMessage('Q', Buffer.from([0])), 1);
      while (!(await backend.rest(patienceMs)));
      hear(backend.takeAnswers().filter(({ type }) => type === 'A'));
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
      if (!backend) return;
      if (backend.isBusy() || isOpen || backend.hasEnded()) await backends.kill(backend);
      else await backends.giveBack(backend);
    },
  };
  return self;
}
