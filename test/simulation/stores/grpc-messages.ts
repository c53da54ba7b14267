/**
 * gRPC over the simulated network, for both ends of EventStoreDB's protocol: what they send each other. Messages travel as
 * they are serialized; HTTP/2 and its sockets do not run.
 */
import type { Metadata } from '@grpc/grpc-js';

export type Status = { code: number; details: string; metadata?: Metadata };

/** What a client sends about one of its calls. */
export type Request =
  | { call: number; kind: 'start'; method: string; metadata: Metadata; deadlineMs: number }
  | { call: number; kind: 'message'; bytes: Buffer }
  | { call: number; kind: 'end' }
  | { call: number; kind: 'cancel' }
  | { call: 0; kind: 'ping' };
export type Answer =
  | { call: number; kind: 'message'; bytes: Uint8Array }
  | { call: number; kind: 'status'; status: Status }
  | { call: 0; kind: 'pong' };
