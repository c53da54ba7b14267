/**
 * gRPC over the simulated network, for both ends of EventStoreDB's protocol: a channel for the official client, and
 * calls for the handlers of the embedded server. Messages travel as they are serialized; HTTP/2 and its sockets do not
 * run.
 */
import { EventEmitter } from 'node:events';
import { status as grpcStatus, Metadata, type ServiceDefinition } from '@grpc/grpc-js';
import type { Connection, Network } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';

type Status = { code: number; details: string; metadata?: Metadata };
type Listener = {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(message: Buffer): void;
  onReceiveStatus(status: Status & { metadata: Metadata }): void;
};

/** What a client sends about one of its calls. */
type Request =
  | { call: number; kind: 'start'; method: string; metadata: Metadata; deadlineMs: number }
  | { call: number; kind: 'message'; bytes: Buffer }
  | { call: number; kind: 'end' }
  | { call: number; kind: 'cancel' }
  | { call: 0; kind: 'ping' };
type Answer =
  | { call: number; kind: 'message'; bytes: Uint8Array }
  | { call: number; kind: 'status'; status: Status }
  | { call: 0; kind: 'pong' };

type ClientCall = { listener: Listener; wanted: number; arrived: (Buffer | Status)[]; done: boolean };

const keepAliveMs = 10_000;
const keepAliveTimeoutMs = 3_000;

/** A channel to `target` as grpc-js knows it. Connects at the first call, and again after a break. */
export function createChannel(process: SimulatedProcess, network: Network, target: string) {
  const calls = new Map<number, ClientCall>();
  let connection: Connection | null = null;
  let connecting = false;
  let closed = false;
  let number = 0;
  let waiting: Request[] = [];
  let cancelPing: (() => void) | null = null;

  function send(request: Request): void {
    if (connection) {
      connection.send(request);
      if (!cancelPing) ping(connection);
    } else {
      waiting.push(request);
      connect();
    }
  }

  function connect(): void {
    if (connecting) return;
    connecting = true;
    network.connect(
      process,
      target,
      { message: (message) => take(message as Answer), ended: () => lose('closed'), broken: lose },
      (opened) => {
        connection = opened;
        connecting = false;
        for (const request of waiting.splice(0)) opened.send(request);
        ping(opened);
      },
    );
  }

  /** Asks whether the other end is alive, while calls wait for it. */
  function ping(opened: Connection): void {
    cancelPing = process.after(process.stretch(keepAliveMs), () => {
      if (connection !== opened) return;
      cancelPing = null;
      if (calls.size === 0) return;
      opened.send({ call: 0, kind: 'ping' } satisfies Request);
      cancelPing = process.after(keepAliveTimeoutMs, () => {
        if (connection !== opened) return;
        opened.reset();
        lose('keep-alive');
      });
    });
  }

  function stopPing(): void {
    cancelPing?.();
    cancelPing = null;
  }

  function lose(why: string): void {
    connection = null;
    connecting = false;
    waiting = [];
    stopPing();
    for (const id of [...calls.keys()])
      finish(id, { code: grpcStatus.UNAVAILABLE, details: `Connection dropped: ${why}` });
  }

  function take(answer: Answer): void {
    if (answer.kind === 'pong') {
      stopPing();
      if (connection && calls.size > 0) ping(connection);
      return;
    }
    const call = calls.get(answer.call);
    if (!call) return;
    call.arrived.push(answer.kind === 'message' ? Buffer.from(answer.bytes) : answer.status);
    if (answer.kind === 'status') calls.delete(answer.call);
    hand(call);
  }

  /** Hands over as many messages as were asked for, and the status after the last. */
  function hand(call: ClientCall): void {
    while (!call.done) {
      const next = call.arrived[0];
      if (next === undefined) return;
      if (Buffer.isBuffer(next)) {
        if (call.wanted === 0) return;
        call.wanted -= 1;
        call.arrived.shift();
        call.listener.onReceiveMessage(next);
      } else {
        call.done = true;
        call.listener.onReceiveStatus({ ...next, metadata: next.metadata ?? new Metadata() });
      }
    }
  }

  function finish(id: number, status: Status): void {
    const call = calls.get(id);
    if (!call) return;
    calls.delete(id);
    call.arrived = [status];
    hand(call);
  }

  return {
    close() {
      closed = true;
      connection?.reset();
      lose('the channel was closed');
    },
    getTarget: () => `dns:${target}`,
    getConnectivityState: () => (connection ? 2 : 0),
    watchConnectivityState() {},
    getChannelzRef: () => ({ kind: 'channel', id: 0, name: target }),
    createCall(method: string, deadline: Date | number) {
      number += 1;
      const id = number;
      const deadlineMs = deadline instanceof Date ? deadline.getTime() : deadline;
      let cancelDeadline = () => {};
      return {
        start(metadata: Metadata, listener: Listener) {
          const ended = (status: Status & { metadata: Metadata }) => {
            cancelDeadline();
            listener.onReceiveStatus(status);
          };
          calls.set(id, {
            listener: {
              onReceiveMetadata: (received) => listener.onReceiveMetadata(received),
              onReceiveMessage: (message) => listener.onReceiveMessage(message),
              onReceiveStatus: ended,
            },
            wanted: 0,
            arrived: [],
            done: false,
          });
          if (closed) {
            process.after(0, () =>
              finish(id, { code: grpcStatus.UNAVAILABLE, details: 'The channel has been closed' }),
            );
            return;
          }
          if (Number.isFinite(deadlineMs))
            cancelDeadline = process.after(Math.max(0, deadlineMs - process.nowMs()), () => {
              send({ call: id, kind: 'cancel' });
              finish(id, { code: grpcStatus.DEADLINE_EXCEEDED, details: 'Deadline exceeded' });
            });
          send({ call: id, kind: 'start', method, metadata, deadlineMs });
        },
        sendMessageWithContext(context: { callback?: () => void }, bytes: Buffer) {
          if (calls.has(id)) send({ call: id, kind: 'message', bytes });
          process.after(0, () => context.callback?.());
        },
        startRead() {
          const call = calls.get(id);
          if (!call) return;
          call.wanted += 1;
          hand(call);
        },
        halfClose() {
          if (calls.has(id)) send({ call: id, kind: 'end' });
        },
        cancelWithStatus(code: number, details: string) {
          if (!calls.has(id)) return;
          send({ call: id, kind: 'cancel' });
          finish(id, { code, details });
        },
        getPeer: () => target,
        getCallNumber: () => id,
        setCredentials() {},
        getAuthContext: () => null,
      };
    },
  };
}

type Handler = (call: ServerCall, callback?: (error: Status | null, response?: unknown) => void) => void;

/** One call as a handler of grpc-js sees it: emits data, end, cancelled and close; is written to and ended. */
export class ServerCall extends EventEmitter {
  request: unknown;
  cancelled = false;
  writableNeedDrain = false;
  readonly #deadlineMs: number;
  readonly #answer: (answer: { bytes: Uint8Array } | { status: Status }) => void;
  readonly #serialize: (message: never) => Uint8Array;
  #finished = false;

  constructor(
    deadlineMs: number,
    serialize: (message: never) => Uint8Array,
    answer: (answer: { bytes: Uint8Array } | { status: Status }) => void,
  ) {
    super();
    this.#deadlineMs = deadlineMs;
    this.#serialize = serialize;
    this.#answer = answer;
    this.on('error', (error: Status) => this.#finish(error));
  }

  getDeadline(): number {
    return this.#deadlineMs;
  }

  write(message: unknown): boolean {
    if (this.#finished) return true;
    const bytes = message instanceof Uint8Array ? message : this.#serialize(message as never);
    this.#answer({ bytes });
    return true;
  }

  end(): void {
    this.#finish({ code: grpcStatus.OK, details: '' });
  }

  cancel(): void {
    this.cancelled = true;
    this.emit('cancelled');
    this.#finished = true;
    this.emit('close');
  }

  pause(): void {}
  resume(): void {}

  #finish(status: Status): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#answer({ status });
    this.emit('close');
  }
}

/** Serves gRPC methods at an address; `refuse` may answer instead of a handler. Ends with the process. */
export function serve(
  process: SimulatedProcess,
  network: Network,
  address: string,
  {
    services,
    refuse,
  }: {
    services: readonly (readonly [ServiceDefinition, Readonly<Record<string, unknown>>])[];
    refuse(method: string, metadata: Metadata): Status | null;
  },
): () => void {
  const methods = new Map(
    services.flatMap(([service, handlers]) =>
      Object.entries(service).map(([name, definition]) => [
        definition.path,
        { definition, handler: handlers[name] as Handler | undefined },
      ]),
    ),
  );
  return network.listen(process, address, (connection) => {
    const calls = new Map<number, ServerCall>();
    const cancelAll = () => {
      for (const call of calls.values()) call.cancel();
      calls.clear();
    };
    process.onKilled(cancelAll);
    const answer = (id: number, given: { bytes: Uint8Array } | { status: Status }) => {
      if ('bytes' in given)
        connection.send({ call: id, kind: 'message', bytes: given.bytes } satisfies Answer);
      else {
        calls.delete(id);
        connection.send({ call: id, kind: 'status', status: given.status } satisfies Answer);
      }
    };
    const pending = new Map<number, (bytes: Buffer) => void>();

    function begin(request: Extract<Request, { kind: 'start' }>): void {
      const method = methods.get(request.method);
      const refusal = refuse(request.method, request.metadata);
      if (refusal || !method?.handler) {
        const unknown = { code: grpcStatus.UNIMPLEMENTED, details: `${request.method} is not offered` };
        answer(request.call, { status: refusal ?? unknown });
        return;
      }
      const { definition, handler } = method;
      const { call: id, deadlineMs } = request;
      const call = new ServerCall(deadlineMs, definition.responseSerialize as never, (given) =>
        answer(id, given),
      );
      calls.set(id, call);
      if (definition.requestStream) {
        pending.set(id, (bytes) => void call.emit('data', definition.requestDeserialize(bytes)));
        handler(call, (error, response) => respond(call, error, response));
        return;
      }
      pending.set(id, (bytes) => {
        call.request = definition.requestDeserialize(bytes);
        handler(call, (error, response) => respond(call, error, response));
      });
    }

    return {
      message(message) {
        const request = message as Request;
        if (request.kind === 'ping') connection.send({ call: 0, kind: 'pong' } satisfies Answer);
        else if (request.kind === 'start') begin(request);
        else if (request.kind === 'message') {
          if (calls.has(request.call)) pending.get(request.call)?.(request.bytes);
        } else if (request.kind === 'end') calls.get(request.call)?.emit('end');
        else {
          calls.get(request.call)?.cancel();
          calls.delete(request.call);
        }
      },
      ended: cancelAll,
      broken: cancelAll,
    };
  });
}

function respond(call: ServerCall, error: Status | null, response: unknown): void {
  if (error) call.emit('error', error);
  else {
    call.write(response);
    call.end();
  }
}
