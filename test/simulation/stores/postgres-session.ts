/** A session of a client of the simulated PostgreSQL, and the connection to the real one that serves it. */
import type { Connection } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { type Announcements, listened } from './postgres-announcements.ts';
import { ask, type Backend, type Backends } from './postgres-backend.ts';
import { noRoom, type PostgresServer } from './postgres-server.ts';
import {
  announces,
  askForLimits,
  begins,
  channelOf,
  createSplitter,
  createUnnaming,
  durationOf,
  errorMessage,
  limitsWaits,
  rewriteStart,
  sqlOf,
  type TimedSettings,
  valuesOf,
  type WireMessage,
  withClock,
} from './postgres-wire.ts';

/** How long the server may take before we ask whether the session waits for a lock. */
const patienceMs = 5;

/** As PostgreSQL says them. */
const limitErrors = {
  lock_timeout: ['55P03', 'canceling statement due to lock timeout'],
  statement_timeout: ['57014', 'canceling statement due to statement timeout'],
} as const;

/** What it does with what clients write. */
export type Writes = 'taken' | 'read only' | 'no room';

/** What PostgreSQL says when its disk is full, and what it says here to those that may not write. */
const fullError = errorMessage('ERROR', '53100', 'could not extend file: No space left on device');
const isForbidden = ({ type, bytes }: WireMessage) => type === 'E' && bytes.includes('\0C42501\0');

/** Whether a session waits for a lock, and in a circle. */
const waitsSql = `
  with recursive awaited (pid) as (
    select unnest(pg_blocking_pids($1)) union select unnest(pg_blocking_pids(pid)) from awaited)
  select count(*) > 0 as blocked, coalesce(bool_or(pid = $1), false) as deadlocked from awaited`;

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
  /** Of its transaction. */
  let limits: TimedSettings = {};
  let limited = false;
  let exceeded: keyof typeof limitErrors = 'statement_timeout';
  let blocked = false;
  let writes: Writes = 'taken';
  let isLeaving = false;
  // Within a group of messages that the server has not been asked to end.
  let isOpen = false;
  let cancelTimer = () => {};

  const hear = (said: readonly WireMessage[]): void => {
    for (const each of said) answers.push(writes === 'no room' && isForbidden(each) ? fullError : each.bytes);
  };
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

    async send(
      bytes: Buffer,
      { now, writes, isCrowded }: { now: Date; writes: Writes; isCrowded: boolean },
    ): Promise<void> {
      cancelTimer();
      await self.setWrites(writes);
      const given: Buffer[] = [];
      let replies = 0;
      for (const message of splitRequests(bytes).flatMap(unname)) {
        if (message.type === 'start' && isCrowded) {
          connection.send(errorMessage('FATAL', '53300', 'sorry, too many clients already'));
          isLeaving = true;
          break;
        }
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
        if (limitsWaits(sql)) limited = true;
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

    /** A transaction that has begun stays as it is. */
    async setWrites(next: Writes): Promise<void> {
      if (!backend || next === writes || isOpen) return;
      if (backend.hasEnded() || backend.isBusy() || backend.isInTransaction()) return;
      writes = next;
      await ask(backend, [
        `set default_transaction_read_only = ${next === 'read only'}`,
        next === 'no room' ? `set role ${noRoom}` : 'reset role',
      ]);
    },

    /** Resolves once the session is idle, has ended or waits for a lock. */
    async settle(): Promise<void> {
      if (!backend) return;
      cancelTimer();
      blocked = false;
      while (!(await backend.rest(patienceMs))) {
        const { rows } = await server.query(waitsSql, [backend.pid()]);
        // The server ends a deadlock itself.
        if (!rows[0]?.blocked || rows[0].deadlocked || !backend.isBusy()) continue;
        blocked = true;
        self.watchWait();
        break;
      }
      hear(backend.takeAnswers());
      tell();
      if (!blocked) await self.noteLimits();
      if (backend.hasEnded()) self.ended = true;
      else if (!blocked && backend.isInTransaction())
        self.watch(timed.idle_in_transaction_session_timeout, () => {
          connection.send(
            errorMessage('FATAL', '25P03', 'terminating connection due to idle-in-transaction timeout'),
          );
          onExpired(self);
        });
    },

    /** What its transaction has said of how long it may wait. */
    async noteLimits(): Promise<void> {
      if (!backend?.isInTransaction()) limits = {};
      else if (limited && !backend.isBusy() && !isOpen) {
        const said = (await ask(backend, askForLimits)).filter(({ type }) => type === 'D');
        const [lock_timeout, statement_timeout] = said.map(({ bytes }) =>
          durationOf(valuesOf(bytes)[0] ?? ''),
        );
        limits = { ...(lock_timeout && { lock_timeout }), ...(statement_timeout && { statement_timeout }) };
      }
      limited = false;
    },

    /** Until it has waited for as long as it may. */
    watchWait(): void {
      const { lock_timeout = Number.POSITIVE_INFINITY, statement_timeout = Number.POSITIVE_INFINITY } = {
        ...timed,
        ...limits,
      };
      exceeded = lock_timeout < statement_timeout ? 'lock_timeout' : 'statement_timeout';
      const limitMs = Math.min(lock_timeout, statement_timeout);
      self.watch(Number.isFinite(limitMs) ? limitMs : undefined, () => onExpired(self));
    },

    /** Interrupts the statement that has waited for a lock for too long. */
    async cancel(): Promise<void> {
      if (!backend || !blocked) return;
      await server.query('select pg_cancel_backend($1)', [backend.pid()]);
      while (!(await backend.rest(patienceMs)));
      const [code, message] = limitErrors[exceeded];
      const error = errorMessage('ERROR', code, message);
      hear(backend.takeAnswers().map((each) => (each.type === 'E' ? { ...each, bytes: error } : each)));
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
