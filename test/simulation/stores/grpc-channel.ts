/** The client's end of gRPC over the simulated network: a channel for the official client of EventStoreDB. */
import { status as grpcStatus, Metadata } from '@grpc/grpc-js';
import type { Connection, Network } from '../engine/network.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import type { Answer, Request, Status } from './grpc-messages.ts';

type Listener = {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(message: Buffer): void;
  onReceiveStatus(status: Status & { metadata: Metadata }): void;
};

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
