/**
 * The network between simulated processes: connections that carry messages in order, as TCP does. What does not get
 * through waits, as TCP repeats it, until the connection is given up.
 */
import type { History } from './history.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** One end of a connection. A closed or broken connection ignores what is sent. */
export type Connection = {
  /** Traced by its size, unless that is not always the same. */
  send(message: unknown, traced?: string): void;
  /** Sends nothing more; the other end is told after all messages. */
  end(): void;
  /** Gives the connection up: the other end sees it broken. */
  reset(): void;
  /** The name of the process at the other end. */
  peer: string;
};

/** What an end does with what arrives; each is called in its process. */
export type Receiver = {
  message(message: unknown): void;
  ended(): void;
  broken(code: string): void;
};

export type Network = {
  /** Answers connections to `<host>:<port>` until the process dies or what is returned is called. Several may share one. */
  listen(
    process: SimulatedProcess,
    address: string,
    accept: (connection: Connection) => Receiver,
  ): () => void;
  /** Opens a connection; `opened` is called in the process once it stands, `receiver.broken` if it does not. */
  connect(
    process: SimulatedProcess,
    address: string,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): { abort(): void };
  /** Nothing from one process reaches the other, until the function that it returns is called. */
  cut(from: string, to: string): () => void;
  /** Each message takes this much longer. */
  slow(name: string, delayMs: number): () => void;
  /** Calls `run` once the `nth` message from now on of a process to one of these has reached it. */
  onArrival(from: string, to: (name: string) => boolean, nth: number, run: () => void): void;
  /** By how much a question of one to the other, and its answer, are late; infinite while a way is cut. */
  lateMs(from: string, to: string): number;
};

/** How long a connection without any answer lasts. */
const giveUpMs = 30_000;
const connectTimeoutMs = 20_000;
/** What was lost gets through so long after the way is free again. */
const repeatMs = 250;

type End = {
  process: SimulatedProcess;
  receiver: Receiver | null;
  open: boolean;
  /** All that it sends has arrived. */
  finished: boolean;
  lastAtMs: number;
  /** What has not got through to it, the oldest first. */
  held: (() => void)[];
  /** Its process keeps nothing of it any more. */
  forget(): void;
};

export function createNetwork({
  scheduler,
  random,
  history,
}: {
  scheduler: Scheduler;
  random: Random;
  history: History;
}): Network {
  const listeners = new Map<string, { process: SimulatedProcess; accept: (c: Connection) => Receiver }[]>();
  const cuts = new Map<string, number>();
  const delays = new Map<string, number>();
  const waiting = new Set<() => void>();
  const awaited = new Set<{ from: string; to: (name: string) => boolean; left: number; run: () => void }>();

  function arrived(from: string, to: string): void {
    for (const each of awaited) {
      if (each.from !== from || !each.to(to)) continue;
      each.left -= 1;
      if (each.left > 0) continue;
      awaited.delete(each);
      each.run();
    }
  }

  const isCut = (from: string, to: string) =>
    [`${from} ${to}`, `${from} *`, `* ${to}`].some((key) => (cuts.get(key) ?? 0) > 0);
  const latencyMs = (from: string, to: string) => {
    const usual = random.chance(0.02) ? random.integer(20, 200) : random.integer(1, 4);
    return usual + (delays.get(from) ?? 0) + (delays.get(to) ?? 0);
  };

  /** In order: what follows something that is held is held, too. */
  function deliver(from: End, to: End, run: () => void): void {
    const atMs = Math.max(to.lastAtMs, scheduler.nowMs() + latencyMs(from.process.name, to.process.name));
    to.lastAtMs = atMs;
    scheduler.after(atMs - scheduler.nowMs(), () => {
      if (!to.open) return;
      if (to.held.length === 0 && !isCut(from.process.name, to.process.name)) {
        run();
        return;
      }
      to.held.push(run);
      if (to.held.length > 1) return;
      const isFree = () => !isCut(from.process.name, to.process.name);
      const goOn = () => {
        if (to.open) for (const run of to.held.splice(0)) run();
      };
      waitFor(isFree, giveUpMs, goOn, () => {
        if (to.open) for (const each of [from, to]) breakOff(each, 'ETIMEDOUT');
      });
    });
  }

  /** Looks each time something is no longer cut: a process may be cut off for days, and tries all the time. */
  function waitFor(isFree: () => boolean, limitMs: number, goOn: () => void, giveUp: () => void): void {
    const look = () => {
      if (!waiting.has(look) || !isFree()) return;
      waiting.delete(look);
      cancel();
      goOn();
    };
    waiting.add(look);
    const cancel = scheduler.after(limitMs, () => {
      waiting.delete(look);
      giveUp();
    });
  }

  // Otherwise thousands of connections would stay in memory until their processes are killed.
  function close(end: End): void {
    end.open = false;
    end.forget();
  }

  function breakOff(end: End, code: string): void {
    if (!end.open) return;
    close(end);
    end.process.enter(() => end.receiver?.broken(code));
  }

  function connectionOf(own: End, other: End): Connection {
    const send = (run: () => void) => {
      if (own.open) deliver(own, other, run);
    };
    return {
      peer: other.process.name,
      send: (message, traced = sizeOf(message)) =>
        send(() => {
          history.trace(`${own.process.name}>${other.process.name} ${traced}`);
          if (other.process.state() === 'dead') breakOff(own, 'ECONNRESET');
          other.process.enter(() => other.open && other.receiver?.message(message));
          if (awaited.size > 0) arrived(own.process.name, other.process.name);
        }),
      end: () =>
        send(() =>
          other.process.enter(() => {
            if (!other.open) return;
            other.receiver?.ended();
            own.finished = true;
            if (other.finished) for (const each of [own, other]) close(each);
          }),
        ),
      reset() {
        send(() => breakOff(other, 'ECONNRESET'));
        close(own);
      },
    };
  }

  function establish(client: End, address: string, opened: (connection: Connection) => void): void {
    const alive = (listeners.get(address) ?? []).filter(({ process }) => process.state() !== 'dead');
    const target = alive.length > 0 ? random.pick(alive) : undefined;
    const host = target?.process.name ?? address.replace(/:\d+$/, '');
    const isFree = () => !isCut(client.process.name, host) && !isCut(host, client.process.name);
    const attempt = () => {
      if (!client.open) return;
      if (!isFree()) return waitFor(isFree, connectTimeoutMs, attempt, () => breakOff(client, 'ETIMEDOUT'));
      // It may have died or stopped listening while the way was cut.
      if (!target || !listeners.get(address)?.includes(target)) {
        breakOff(client, 'ECONNREFUSED');
        return;
      }
      const server = createEnd(target.process, null);
      for (const [own, other] of [[client, server] as const, [server, client] as const])
        own.forget = own.process.onKilled(() => {
          if (own.open) deliver(own, other, () => breakOff(other, 'ECONNRESET'));
          own.open = false;
        });
      target.process.enter(() => {
        server.receiver = target.accept(connectionOf(server, client));
      });
      client.process.enter(() => opened(connectionOf(client, server)));
    };
    scheduler.after(latencyMs(client.process.name, host) * 2, attempt);
  }

  function count(counts: Map<string, number>, key: string, by: number): () => void {
    counts.set(key, (counts.get(key) ?? 0) + by);
    return () => void counts.set(key, (counts.get(key) ?? 0) - by);
  }

  return {
    listen(process, address, accept) {
      const listener = { process, accept };
      const others = listeners.get(address) ?? [];
      listeners.set(address, [...others, listener]);
      const remove = () => {
        listeners.set(
          address,
          (listeners.get(address) ?? []).filter((each) => each !== listener),
        );
      };
      process.onKilled(remove);
      return remove;
    },
    connect(process, address, receiver, opened) {
      const client = createEnd(process, receiver);
      establish(client, address, opened);
      return {
        abort() {
          close(client);
        },
      };
    },
    cut(from, to) {
      const heal = count(cuts, `${from} ${to}`, 1);
      return () => {
        heal();
        // As TCP, which repeats what was lost.
        for (const look of waiting) scheduler.after(repeatMs, look);
      };
    },
    slow: (name, delayMs) => count(delays, name, delayMs),
    onArrival: (from, to, nth, run) => void awaited.add({ from, to, left: nth, run }),
    lateMs: (from, to) =>
      isCut(from, to) || isCut(to, from)
        ? Number.POSITIVE_INFINITY
        : 2 * ((delays.get(from) ?? 0) + (delays.get(to) ?? 0)),
  };
}

function createEnd(process: SimulatedProcess, receiver: Receiver | null): End {
  return { process, receiver, open: true, finished: false, lastAtMs: 0, held: [], forget() {} };
}

function sizeOf(message: unknown): string {
  return message instanceof Uint8Array ? String(message.length) : typeof message;
}
