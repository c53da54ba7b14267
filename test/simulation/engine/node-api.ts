/**
 * Node's own time, randomness, TCP and child processes for code that runs in a simulated process, whatever library it
 * belongs to. Code outside of one gets the real ones. To be installed before anything else is imported, as libraries may
 * keep what they import.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Network } from './network.ts';
import { currentProcess, type SimulatedProcess } from './process.ts';
import { SimulatedSocket } from './socket.ts';

const require = createRequire(import.meta.url);
const children: typeof import('node:child_process') = require('node:child_process');
const http: typeof import('node:http') = require('node:http');
const net: typeof import('node:net') = require('node:net');
const timers: typeof import('node:timers') = require('node:timers');

let network: Network | undefined;

/** Processes reach each other over this network from now on. */
export function useNetwork(next: Network): void {
  network = next;
}

type Fork = (parent: SimulatedProcess, file: string, args: readonly string[]) => unknown;
let fork: Fork | undefined;

/** What a simulated process forks is started by this from now on. */
export function useFork(next: Fork): void {
  fork = next;
}

/** Replaces them, once and for all. */
export function installNodeApi(): void {
  replaceTimers();
  replaceClock();
  replaceTcp();
  replaceSignals();
  replaceFork();
  replaceFetch();
  syncBuiltinESMExports();
  process.on('unhandledRejection', endOne);
}

/** A rejection that nobody handles ends the process whose it is, and not the simulator. */
function endOne(error: unknown): void {
  const process = currentProcess();
  if (!process) throw error;
  process.fail(error);
}

/**
 * Intervals are used for housekeeping only, such as closing idle connections. They are this much later than other
 * timers, so that a quiet day does not consist of opening and closing connections.
 */
const lateness = 12;

class SimulatedTimer {
  readonly #cancel: () => void;
  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }
  close(): this {
    this.#cancel();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.toPrimitive](): number {
    return 0;
  }
}

type Callback = (...args: unknown[]) => void;

function replaceTimers(): void {
  const real = { ...timers };
  const replaced = {
    setTimeout(run: Callback, ms = 1, ...args: unknown[]) {
      const process = currentProcess();
      if (!process) return real.setTimeout(run, ms, ...args);
      return new SimulatedTimer(process.after(ms, () => run(...args)));
    },
    setInterval(run: Callback, ms = 1, ...args: unknown[]) {
      const process = currentProcess();
      if (!process) return real.setInterval(run, ms, ...args);
      let cancel = () => {};
      const repeat = () => {
        cancel = process.after(process.stretch(ms) * lateness, () => {
          repeat();
          run(...args);
        });
      };
      repeat();
      return new SimulatedTimer(() => cancel());
    },
    clearTimeout: (timer: unknown) => clear(timer, real.clearTimeout),
    clearInterval: (timer: unknown) => clear(timer, real.clearInterval),
  };
  Object.assign(timers, replaced);
  Object.assign(globalThis, replaced);
}

function clear(timer: unknown, otherwise: (timer: never) => void): void {
  if (timer instanceof SimulatedTimer) timer.close();
  else otherwise(timer as never);
}

function replaceClock(): void {
  const RealDate = Date;
  const nowMs = () => currentProcess()?.nowMs() ?? RealDate.now();
  // As Date: dates that Node makes are of it, too.
  function SimulatedDate(...args: unknown[]) {
    if (!new.target) return new RealDate(nowMs()).toString();
    return Reflect.construct(RealDate, args.length === 0 ? [nowMs()] : args, new.target);
  }
  Object.setPrototypeOf(SimulatedDate, RealDate);
  Object.assign(SimulatedDate, { prototype: RealDate.prototype, now: nowMs });
  globalThis.Date = SimulatedDate as unknown as DateConstructor;
  const random = Math.random;
  Math.random = () => currentProcess()?.random.next() ?? random();
  const { performance } = globalThis;
  const elapsed = performance.now.bind(performance);
  performance.now = () => currentProcess()?.runtime.monotonicMs() ?? elapsed();
}

/**
 * Node keeps a signal of several in memory until it aborts, and with it a whole simulation whose processes never end.
 * Each source has one listener for all of them: to add one takes as long as the signal has listeners.
 */
function replaceSignals(): void {
  const any = AbortSignal.any.bind(AbortSignal);
  const followers = new WeakMap<AbortSignal, Set<AbortController>>();
  const followersOf = (source: AbortSignal) => {
    const known = followers.get(source);
    if (known) return known;
    const those = new Set<AbortController>();
    followers.set(source, those);
    source.addEventListener('abort', () => those.forEach((each) => void each.abort(source.reason)));
    return those;
  };
  AbortSignal.any = (signals) => {
    if (!currentProcess()) return any(signals);
    const controller = new AbortController();
    const sources = [...signals];
    const aborted = sources.find((each) => each.aborted);
    if (aborted) controller.abort(aborted.reason);
    else {
      for (const each of sources) followersOf(each).add(controller);
      controller.signal.addEventListener('abort', () =>
        sources.forEach((each) => void followersOf(each).delete(controller)),
      );
    }
    return controller.signal;
  };
}

function replaceFork(): void {
  const real = children.fork as (...args: unknown[]) => unknown;
  Object.assign(children, {
    fork(file: string, args: readonly string[] = [], ...more: unknown[]) {
      const process = currentProcess();
      return process && fork ? fork(process, file, args) : real(file, args, ...more);
    },
  });
}

/** Node's own shares connections among all processes. */
function replaceFetch(): void {
  const real = globalThis.fetch;
  globalThis.fetch = (input, init = {}) => {
    if (!currentProcess()) return real(input, init);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { method = 'GET', signal, body } = init;
    const options = { method, agent: new http.Agent(), ...(signal && { signal }) };
    const sent = http.request(String(input), options);
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => void chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        resolve(new Response(Buffer.concat(chunks), { status }));
      });
    });
    sent.end(body);
    return promise;
  };
}

function replaceTcp(): void {
  const RealSocket = net.Socket;
  const inNetwork = () => {
    const process = currentProcess();
    return process && network ? { process, network } : null;
  };
  const Socket = new Proxy(RealSocket, {
    construct(target, args, newTarget) {
      const place = inNetwork();
      if (place && args.length === 0) return new SimulatedSocket(place.process, place.network);
      return Reflect.construct(target, args, newTarget);
    },
  });
  Object.assign(net, { Socket });

  const { createConnection } = http.Agent.prototype as unknown as { createConnection: Callback };
  Object.assign(http.Agent.prototype, {
    createConnection(options: { port: number; host: string }, ...more: unknown[]) {
      const place = inNetwork();
      if (!place) return createConnection.call(this, options as never, ...more);
      return new SimulatedSocket(place.process, place.network).connect(options);
    },
  });

  const { listen, address, close } = net.Server.prototype;
  const ports = new WeakMap<object, number>();
  const stopsListening = new WeakMap<object, () => void>();
  Object.assign(net.Server.prototype, {
    listen(this: import('node:http').Server, ...args: unknown[]) {
      const place = inNetwork();
      if (!place) return Reflect.apply(listen, this, args);
      const port = Number(args[0]);
      ports.set(this, port);
      const counting = this as unknown as { _connections: number; _emitCloseIfDrained(): void };
      const stop = place.network.listen(place.process, `${place.process.name}:${port}`, (connection) => {
        const socket = new SimulatedSocket(place.process, place.network, true).attach(connection);
        Object.assign(socket, { server: this });
        // Node counts only sockets of its own, and a server has ended once it has none.
        counting._connections += 1;
        socket.once('close', () => {
          counting._connections -= 1;
          if (!stopsListening.has(this)) counting._emitCloseIfDrained();
        });
        this.emit('connection', socket);
        return socket.receiver();
      });
      stopsListening.set(this, stop);
      place.process.after(0, () => {
        this.emit('listening');
        stopChecking(this);
      });
      return this;
    },
    close(this: import('node:http').Server, ...args: unknown[]) {
      stopsListening.get(this)?.();
      stopsListening.delete(this);
      return Reflect.apply(close, this, args);
    },
    address(this: object) {
      const port = ports.get(this);
      return port === undefined
        ? Reflect.apply(address, this, [])
        : { address: '10.0.0.1', family: 'IPv4', port };
    },
  });
}

/** Node checks a server's connections by the real time, with a timer that would keep every server in memory. */
function stopChecking(server: object): void {
  const isTimer = ({ description }: symbol) => description === 'http.server.connectionsCheckingInterval';
  const timer = Object.getOwnPropertySymbols(server).find(isTimer);
  if (!timer) throw new Error('The timer of a server is not where it was');
  clearInterval(Reflect.get(server, timer));
}
