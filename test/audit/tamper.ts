// Edits of the event store's file, as somebody with this machine could make them.
import type { DatabaseSync } from 'node:sqlite';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { hashOf, type Metadata } from '../../src/events/envelope.ts';

/** Changes the stored bytes of one event. */
export function changeEvent(
  db: DatabaseSync,
  { stream: name, revision }: { stream: string; revision: number },
  work: (message: Buffer) => Uint8Array,
): void {
  const where = 'stream = (select id from streams where name = ?) and revision = ?';
  const found = db.prepare(`select message from events where ${where}`).get(name, revision);
  const message = work(Buffer.from(found?.message as Uint8Array));
  db.prepare(`update events set message = ? where ${where}`).run(message, name, revision);
}

/** The number of a stream in the file, for a statement. */
export const streamIn = (name: string) => `(select id from streams where name = '${name}')`;

/** Removes one event; without a revision, a whole stream. */
export const remove =
  (stream: string, revision?: number) =>
  (db: DatabaseSync): void => {
    const one = revision === undefined ? '' : ` and revision = ${revision}`;
    db.exec(`delete from events where stream = ${streamIn(stream)}${one}`);
  };

/** One text for another of the same length. */
export const replace = (from: string, to: string) => (message: Buffer) => {
  const at = message.indexOf(from);
  if (at < 0) throw new Error(`${from} is not in it`);
  message.write(to, at);
  return message;
};

/** Rewrites an event as somebody with this program could: with a matching hash. */
export function forge(
  message: Buffer,
  change: (data: Record<string, unknown>) => void,
  previousHash?: string,
) {
  const response = streams.ReadResp.deserializeBinary(message);
  const event = response.getEvent()?.getEvent();
  if (!event) throw new Error('no event');
  const data = JSON.parse(Buffer.from(event.getData_asU8()).toString());
  const metadata = JSON.parse(Buffer.from(event.getCustomMetadata_asU8()).toString()) as Metadata;
  change(data);
  metadata.previousHash = previousHash ?? metadata.previousHash;
  metadata.hash = hashOf(String(event.getMetadataMap().get('type')), data, metadata);
  event.setData(Buffer.from(JSON.stringify(data)));
  event.setCustomMetadata(Buffer.from(JSON.stringify(metadata)));
  return { message: response.serializeBinary(), hash: metadata.hash };
}

/** Rewrites some of the data of an event, with a matching hash. */
export const withData = (changed: object) => (message: Buffer) =>
  forge(message, (data) => Object.assign(data, changed)).message;
