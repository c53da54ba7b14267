/** A TCP socket over the simulated network, with what Node's http, got and pg use of `net.Socket`. */
import { Duplex } from 'node:stream';
import type { Connection, Network, Receiver } from './network.ts';
import type { SimulatedProcess } from './process.ts';

type Done = (error?: Error | null) => void;

export class SimulatedSocket extends Duplex {
  connecting = false;
  remoteAddress = '10.0.0.1';
  remotePort = 1;
  remoteFamily = 'IPv4';
  localAddress = '10.0.0.2';
  localPort = 1;
  readonly #process: SimulatedProcess;
  readonly #network: Network;
  #connection: Connection | null = null;
  #opening: { abort(): void } | null = null;
  #whenOpen: (() => void)[] = [];
  #cancelTimeout: (() => void) | null = null;

  constructor(process: SimulatedProcess, network: Network, allowHalfOpen = false) {
    super({ allowHalfOpen, emitClose: true });
    this.#process = process;
    this.#network = network;
  }

  /** As `net.Socket.connect(port, host)` and `connect({ port, host })`. */
  connect(to: number | string | { port: number | string; host: string }, host?: string): this {
    const target = typeof to === 'object' ? to : { port: to, host: host ?? 'localhost' };
    this.connecting = true;
    this.#opening = this.#network.connect(
      this.#process,
      `${target.host}:${target.port}`,
      this.receiver(),
      (connection) => {
        this.connecting = false;
        this.#opening = null;
        this.attach(connection);
        this.emit('connect');
        this.emit('ready');
      },
    );
    return this;
  }

  /** Puts the socket on a connection that stands. */
  attach(connection: Connection): this {
    this.#connection = connection;
    for (const run of this.#whenOpen.splice(0)) run();
    return this;
  }

  receiver(): Receiver {
    return {
      message: (message) => void this.push(message),
      ended: () => void this.push(null),
      broken: (code) => {
        this.#connection = null;
        this.destroy(
          Object.assign(new Error(`The connection failed: ${code}`), { code, syscall: 'connect' }),
        );
      },
    };
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: Done): void {
    this.#send(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #send(bytes: Buffer, done: Done): void {
    const run = () => {
      this.#connection?.send(Buffer.from(bytes));
      done();
    };
    if (this.connecting) this.#whenOpen.push(run);
    else run();
  }

  override _final(done: Done): void {
    const run = () => {
      this.#connection?.end();
      done();
    };
    if (this.connecting) this.#whenOpen.push(run);
    else run();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#opening?.abort();
    this.#cancelTimeout?.();
    if (!this.readableEnded || !this.writableFinished) this.#connection?.reset();
    this.#connection = null;
    done(error);
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    this.#cancelTimeout?.();
    if (onTimeout && ms > 0) this.once('timeout', onTimeout);
    else if (onTimeout) this.removeListener('timeout', onTimeout);
    this.#cancelTimeout = ms > 0 ? this.#process.after(ms, () => this.emit('timeout')) : null;
    return this;
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  address(): object {
    return { address: this.localAddress, port: this.localPort, family: 'IPv4' };
  }
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }
}
