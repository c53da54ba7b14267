/** The server's end of gRPC over the simulated network: calls for the handlers of the embedded event store. */
import { EventEmitter } from 'node:events';
import { status as grpcStatus, type Metadata, type ServiceDefinition } from '@grpc/grpc-js';
import type { Network } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Answer, Request, Status } from './grpc-messages.ts';

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
