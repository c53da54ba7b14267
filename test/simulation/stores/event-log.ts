/** The log of the simulated event store, which is that of the embedded one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { SCHEMA } from '../../../packages/embedded/eventstore/log-tables.ts';
import { openStorage, type Storage } from '../../../packages/embedded/eventstore/storage.ts';
import { bytesOfUuid } from '../../../packages/embedded/eventstore/wire.ts';

/** Knows the last position without asking SQLite, which would be asked after every step of the simulation. */
export function withKnownEnd(storage: Storage): Storage {
  let last = storage.lastPosition();
  return {
    ...storage,
    lastPosition: () => last,
    page: (request) =>
      request.stream === undefined && request.direction === 'forwards' && request.from > last
        ? []
        : storage.page(request),
    async append(request) {
      const result = await storage.append(request);
      last = storage.lastPosition();
      return result;
    },
  };
}

/** A copy of the log up to a position. */
export function copyUpTo(storage: Storage, last: number): Storage {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-simulation-'));
  const file = join(folder, 'events.db');
  const db = new DatabaseSync(file);
  db.exec(SCHEMA);
  const addStream = db.prepare('insert into streams (name) values (?) on conflict do nothing');
  const addEvent = db.prepare(
    'insert into events values (?, (select id from streams where name = ?), ?, ?, ?, ?)',
  );
  let from = 0;
  for (;;) {
    const page = storage
      .page({ from, direction: 'forwards', limit: 256 })
      .filter((it) => it.position <= last);
    for (const { position, stream, revision, type, message } of page) {
      const id =
        streams.ReadResp.deserializeBinary(message).getEvent()?.getEvent()?.getId()?.getString() ?? '';
      addStream.run(stream);
      addEvent.run(position, stream, revision, bytesOfUuid(id), type, message);
    }
    const end = page.at(-1);
    if (!end) break;
    from = end.position + 1;
  }
  db.close();
  const copy = withKnownEnd(openStorage(file));
  // SQLite holds the file open for as long as the simulation needs it.
  rmSync(folder, { recursive: true });
  return copy;
}
