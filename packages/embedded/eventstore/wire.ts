// Converts between the store's own types and EventStoreDB's protobuf messages: events, identifiers, errors.
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Metadata, status } from '@grpc/grpc-js';
import { isDiskFull } from '@ledger/kernel/disk-full.ts';
import { bytesIn, type Message, messageIn, messagesIn, parse, textIn } from '@ledger/kernel/read-protobuf.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { type Field, field, number } from '@ledger/kernel/write-protobuf.ts';

export const asBuffer = (message: Uint8Array) =>
  Buffer.from(message.buffer, message.byteOffset, message.byteLength);

/** The Streams service, except that requests are parsed by hand, and that answers are serialized already. */
export const streamsService = {
  ...StreamsService,
  read: { ...StreamsService.read, requestDeserialize: parse, responseSerialize: asBuffer },
  append: { ...StreamsService.append, requestDeserialize: parse, responseSerialize: asBuffer },
  batchAppend: { ...StreamsService.batchAppend, requestDeserialize: parse, responseSerialize: asBuffer },
};

export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** An event as a client sends it, parsed and checked. */
export type ProposedEvent = {
  /** Lower-case UUID. */
  id: string;
  type: string;
  contentType: 'application/json' | 'application/octet-stream';
  data: Uint8Array;
  metadata: Uint8Array;
};

/**
 * An invalid request; the message tells the caller why. The trailers are EventStoreDB's: `exception` names the error,
 * and the client reads the others with it.
 */
export class RequestFault extends Error {
  readonly code: status;
  readonly trailers: Readonly<Record<string, string>>;

  constructor(
    message: string,
    code: status = status.INVALID_ARGUMENT,
    trailers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.trailers = trailers;
  }
}

const MAX_STREAM_NAME_LENGTH = 16_384;
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Reads a UUID in the textual form, which is the one that clients send; lower-case. Throws RequestFault. */
export function parseUuid(uuid: Message | undefined): string {
  const text = textIn(uuid, 2).toLowerCase();
  if (!UUID_PATTERN.test(text)) throw new RequestFault(`'${text.slice(0, 64)}' is not a UUID`);
  return text;
}

export const bytesOfUuid = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** Throws RequestFault if the name is missing, or too long for its events to be read back in one message. */
export function parseStreamName(identifier: Message | undefined): string {
  const name = textIn(identifier, 3);
  if (name === '') throw new RequestFault('A stream name is required');
  if (name.length > MAX_STREAM_NAME_LENGTH) {
    throw new RequestFault(`A stream name has at most ${MAX_STREAM_NAME_LENGTH} characters`);
  }
  return name;
}

/** Reads an event of either kind of append. Throws RequestFault if the type or content type is missing. */
export function parseProposedEvent(message: Message): ProposedEvent {
  const properties = new Map(messagesIn(message, 2).map((each) => [textIn(each, 1), textIn(each, 2)]));
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  if (!type || !contentType) {
    throw new RequestFault('An event needs the metadata "type" and "content-type"', status.INVALID_ARGUMENT, {
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': 'type,content-type',
    });
  }
  return {
    id: parseUuid(messageIn(message, 1)),
    type,
    // EventStoreDB keeps only whether the content is JSON.
    contentType: contentType === 'application/json' ? contentType : 'application/octet-stream',
    data: bytesIn(message, 4),
    metadata: bytesIn(message, 3),
  };
}

/** The gRPC form of an error. A full disk is RESOURCE_EXHAUSTED, any other fault of it INTERNAL, with SQLite's message. */
export function grpcError(error: unknown): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  const details = reasonOf(error);
  if (isDiskFull(error))
    return {
      code: status.RESOURCE_EXHAUSTED,
      details: `The disk of the event store is full: ${details}`,
      metadata,
    };
  if (!(error instanceof RequestFault)) return { code: status.INTERNAL, details, metadata };
  for (const [key, value] of Object.entries(error.trailers)) metadata.set(key, value);
  return { code: error.code, details, metadata };
}

/** Where a stream ends, in an answer that has these fields for it; -1 if there is no stream. */
export const currentRevision = (
  revision: number,
  [atRevision, noStream]: readonly [number, number],
): Field => (revision < 0 ? field(noStream) : number(atRevision, revision));

/** What an append expected, in an answer that has these fields for it. */
export function expectedRevision(
  expected: ExpectedRevision,
  fields: { revision: number; any: number; streamExists: number; noStream: number },
): Field {
  if (expected === 'any') return field(fields.any);
  if (expected === 'stream_exists') return field(fields.streamExists);
  if (expected === 'no_stream') return field(fields.noStream);
  return number(fields.revision, expected);
}

/** The last event of an append that went through, as both kinds of append answer it. */
export const success = (tag: number, { revision, position }: { revision: number; position: number }): Field =>
  field(tag, currentRevision(revision, [1, 2]), field(3, number(1, position), number(2, position)));

/** The google.rpc.Status in the answer to a batch append; from its details the client knows which error to throw. */
export function errorStatus(code: status, message: string, name: string, ...details: Field[]): Field {
  const type = field(1, `type.googleapis.com/event_store.client.${name}`);
  return field(2, number(1, code), field(2, message), field(3, type, field(2, ...details)));
}
