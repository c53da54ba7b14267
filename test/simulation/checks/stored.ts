/** Events as the event store keeps them, and as payments read them. */
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from '../../../packages/embedded/eventstore/log-tables.ts';
import { type PaymentEvent, readPaymentEvent } from '../../../src/events/payment.ts';

export type Decoded = {
  stream: string;
  revision: number;
  createdMs: number;
  type: string;
  data: unknown;
  metadata: unknown;
};

export function readOrNull(stored: Decoded): PaymentEvent | null {
  try {
    return readPaymentEvent(stored);
  } catch {
    return null;
  }
}

export function summaryOf(event: PaymentEvent): string {
  const { data } = event;
  if ('result' in data)
    return `(${data.result.outcome} ${data.result.gatewayTransactionId} by ${data.source})`;
  if ('sellerOrderNo' in data && 'mode' in data) return `(${data.sellerOrderNo} ${data.mode})`;
  return 'delivery' in data ? `(${data.delivery})` : '';
}

export function decode({ stream, revision, type, message }: StoredEvent): Decoded {
  const recorded = streams.ReadResp.deserializeBinary(message).getEvent()?.getEvent();
  return {
    stream,
    revision,
    // In ticks of 100 ns.
    createdMs: Number(recorded?.getMetadataMap().get('created')) / 10_000,
    type,
    data: parse(recorded?.getData_asU8()),
    metadata: parse(recorded?.getCustomMetadata_asU8()),
  };
}

function parse(bytes: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
  } catch {
    return null;
  }
}
