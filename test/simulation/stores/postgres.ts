/**
 * PostgreSQL on the simulated network: a real server does the work, and what goes to it and comes from it passes
 * through here. One message of a client is carried out at a time, until its session is idle again or waits for a lock,
 * so that the order in which transactions meet depends on the simulation alone.
 */
import type { History } from '../engine/history.ts';
import type { Connection, Network, Receiver } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { createAnnouncements } from './postgres-announcements.ts';
import { ask, createBackends } from './postgres-backend.ts';
import { noRoom, type PostgresServer } from './postgres-server.ts';
import { createSession, type Session, type Writes } from './postgres-session.ts';
import { startMessage, valuesOf } from './postgres-wire.ts';

/** The name of a database. */
export type PostgresCopy = string & { readonly brand: unique symbol };

export type SimulatedPostgres = {
  /** Ends all sessions, whose transactions roll back, and refuses new ones until `start`. */
  crash(): void;
  start(): void;
  /** Keeps what is committed, as a replica that lags behind what follows, or as a backup. It must have crashed. */
  copy(): PostgresCopy;
  /**
   * The copy takes the place of the database, which loses what was committed since. With `only`, it
   * has this schema alone. It must have crashed.
   */
  goBackTo(copy: PostgresCopy, only?: string): void;
  /** When it last did, by the true time; 0 if it never has. */
  failedOverAtMs(): number;
  isUp(): boolean;
  /** Of transactions that begin from now on. A disk that is full has room for what a checkpoint's row says. */
  setWrites(writes: Writes): void;
  writes(): Writes;
  /** Others have all connections: who has none gets none. */
  setCrowded(isCrowded: boolean): void;
  /** From now on its disk takes so long for the end of a transaction. */
  setSlow(delayMs: number): void;
  isCrowded(): boolean;
  /** Its clock is so much ahead of the true time from now on. */
  setClock(offsetMs: number): void;
  nowMs(): number;
  /** When its clock was last set, by the true time: leases may end early then. Minus infinity if it never was. */
  clockSetAtMs(): number;
  /** What it holds, also while no client reaches it. To be awaited by an event of the scheduler. */
  read(sql: string): Promise<string[][]>;
  close(): Promise<void>;
};

const dropAllBut = (schema: string) => `
  do $$ declare each text; begin
    for each in select nspname from pg_namespace
      where nspname not like 'pg\\_%' and nspname not in ('information_schema', '${schema}')
    loop execute format('drop schema %I cascade', each); end loop;
    create schema public;
  end $$`;

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
  /** Those that may have something to say to their clients. */
  const speaking = new Set<Session>();
  const backends = createBackends(server);
  let current = database;
  let copies = 0;
  let failedOverAtMs = 0;
  let writes: Writes = 'taken';
  let isCrowded = false;
  let slowMs = 0;
  let clockSetAtMs = Number.NEGATIVE_INFINITY;
  let announcements = createAnnouncements(backends, current);
  let stopListening: (() => void) | null = null;
  // One at a time, in the order in which the messages arrived.
  let turn: Promise<unknown> = Promise.resolve();

  const inTurn = (work: () => Promise<unknown>) => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };

  async function carryOut(session: Session, bytes: Buffer): Promise<void> {
    if (session.ended) return;
    await session.send(bytes, { now: new Date(process.nowMs()), writes, isCrowded });
    if (session.isLeaving()) return end(session);
    await settleAll(session);
  }

  /** Waits for this session, then for others that its transaction may have released, and for what was announced. */
  async function settleAll(session: Session): Promise<void> {
    await session.settle();
    speaking.add(session);
    if (!session.isInTransaction()) await release();
    if (session.hasAnnounced())
      for (const { channel, bytes } of await announcements.fetch())
        for (const other of sessions)
          if (other.isListening(channel)) {
            other.notify(bytes);
            speaking.add(other);
          }
    reply();
  }

  function reply(): void {
    for (const each of speaking) each.reply();
    speaking.clear();
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
      speaking.add(next);
    }
  }

  async function end(session: Session): Promise<void> {
    if (!sessions.delete(session)) return;
    await session.terminate();
    await release();
    reply();
  }

  function accept(connection: Connection): Receiver {
    const session = createSession({
      server,
      backends,
      announcements,
      database: current,
      process,
      connection,
      onExpired: expire,
    });
    sessions.add(session);
    let freeAtMs = 0;
    const arriving = (work: () => Promise<void>, delayMs = 0) => {
      freeAtMs = Math.max(freeAtMs, scheduler.nowMs() + delayMs);
      scheduler.after(freeAtMs - scheduler.nowMs(), () => inTurn(work));
    };
    const delayOf = (bytes: Buffer) =>
      slowMs > 0 && /\bcommit\b/i.test(bytes.toString('latin1')) ? slowMs : 0;
    return {
      message: (bytes) => arriving(() => carryOut(session, bytes as Buffer), delayOf(bytes as Buffer)),
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

  /** PostgreSQL copies no database to which somebody is connected. */
  async function leaveDatabase(): Promise<void> {
    for (const session of sessions) await end(session);
    await announcements.close();
    await backends.close();
  }

  async function asOwner(sql: string) {
    const { backend } = await backends.take(startMessage(['user', 'ledger', 'database', current]), '');
    const said = await ask(backend, [sql]);
    await backends.giveBack(backend);
    return said;
  }

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
    copy() {
      history.tell('postgres: a copy has all that is committed');
      copies += 1;
      const copy = `${database}_${copies}` as PostgresCopy;
      const stay = async () => {
        await leaveDatabase();
        await server.query(`create database ${copy} template ${current}`);
        announcements = createAnnouncements(backends, current);
      };
      schedule(() => inTurn(stay));
      return copy;
    },
    goBackTo(copy, only) {
      history.tell('postgres: the copy takes its place, which lacks what was committed since');
      failedOverAtMs = scheduler.nowMs();
      const move = async () => {
        await leaveDatabase();
        current = copy;
        announcements = createAnnouncements(backends, current);
        if (only !== undefined) await asOwner(dropAllBut(only));
      };
      schedule(() => inTurn(move));
    },
    failedOverAtMs: () => failedOverAtMs,
    isUp: () => stopListening !== null,
    setWrites(next) {
      history.tell(`postgres: ${next === 'taken' ? 'takes writes again' : `takes no writes (${next})`}`);
      writes = next;
      if (next === 'no room')
        schedule(() => inTurn(() => asOwner(`grant update on checkpoints to ${noRoom}`)));
    },
    writes: () => writes,
    setCrowded(next) {
      history.tell(`postgres: ${next ? 'has no connection left' : 'has connections again'}`);
      isCrowded = next;
    },
    isCrowded: () => isCrowded,
    setSlow(delayMs) {
      slowMs = delayMs;
      history.tell(`postgres: its disk takes ${delayMs} ms`);
    },
    setClock(offsetMs) {
      history.tell(`postgres: its clock is ${offsetMs} ms off`);
      clockSetAtMs = scheduler.nowMs();
      process.setClock({ offsetMs, drift: 0 });
    },
    nowMs: process.nowMs,
    clockSetAtMs: () => clockSetAtMs,
    async read(sql) {
      const said = await asOwner(sql);
      return said.filter(({ type }) => type === 'D').map(({ bytes }) => valuesOf(bytes));
    },
    async close() {
      for (const session of sessions) await session.terminate();
      sessions.clear();
      await announcements.close();
      await backends.close();
    },
  };
}
