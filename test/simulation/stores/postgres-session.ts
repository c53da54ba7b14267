/** A session of a client of the simulated PostgreSQL, and the connection to the real one that serves it. */
import type { Connection } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { type Announcements, listened } from './postgres-announcements.ts';
import type { Backend, Backends } from './postgres-backend.ts';
import type { PostgresServer } from './postgres-server.ts';
import {
  announces,
  begins,
  channelOf,
  createSplitter,
  createUnnaming,
  fatalError,
  rewriteStart,
  sqlOf,
  type TimedSettings,
  type WireMessage,
  withClock,
} from './postgres-wire.ts';

/** How long the server may take before we ask whether the session waits for a lock. */
const patienceMs = 5;

export type Session = ReturnType<typeof createSession>;

export function createSession({
  server,
  backends,
  announcements,
  database,
  process,
  connection,
  onExpired,
}: {
  server: PostgresServer;
  backends: Backends;
  announcements: Announcements;
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
  const channels = new Set<string>();
  /** What it will be told when it is in no transaction. */
  let untold: Buffer[] = [];
  let timed: TimedSettings = {};
  let blocked = false;
  let isLeaving = false;
  // Within a group of messages that the server has not been asked to end.
  let isOpen = false;
  let cancelTimer = () => {};

  const hear = (said: readonly WireMessage[]) => void answers.push(...said.map(({ bytes }) => bytes));
  const tell = (): void => {
    if (!backend || backend.isBusy() || backend.isInTransaction()) return;
    answers.push(...untold);
    untold = [];
  };

  const self = {
    connection,
    ended: false,
    isListening: (channel: string) => channels.has(channel),
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
        const channel = channelOf(sql);
        if (channel !== null) {
          await announcements.listen(channel);
          channels.add(channel);
          hear(listened);
          continue;
        }
        if (backend && given.length === 0 && begins(sql) && !backend.isInTransaction()) {
          hear(backend.begin(message.bytes));
          continue;
        }
        isOpen = message.type !== 'Q' && message.type !== 'S';
        if (!isOpen) replies += 1;
        given.push(withClock(message, sql, now));
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
      tell();
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

    /** Something was announced to it. */
    notify(bytes: Buffer): void {
      untold.push(bytes);
      tell();
    },

    /** Sends the client what the server has said: by types, since the ids of its processes have three to seven digits. */
    reply(): void {
      const types = answers.map((bytes) => bytes.toString('latin1', 0, 1)).join('');
      if (answers.length > 0) connection.send(Buffer.concat(answers), types);
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
