/** The discrepancies that imports found, a row each: where it stands, and the columns it is found by. */

import { readReconciliationEvent } from '../../events/codec.ts';
import {
  type Difference,
  evolveDiscrepancy,
  reconciliationStreamPrefix,
} from '../../events/reconciliation.ts';
import type { RecordedEvent } from '../../eventstore/event-store.ts';
import { indexable } from '../../postgres/indexable.ts';
import { type Projection, ProjectionFault } from '../runtime/projection.ts';

export const reconciliation: Projection = {
  name: 'reconciliation',
  version: 2,
  streamPrefixes: [reconciliationStreamPrefix],

  async createTables(db) {
    // The state is json, not jsonb, which refuses U+0000 and half a surrogate pair: a note may hold them.
    await db.raw(`
      create table discrepancies (
        id text primary key,
        revision integer not null,
        kind text not null,
        source text not null,
        transaction_id text not null,
        merchant_code text not null,
        amount_sen bigint,
        at timestamptz not null,
        resolution text,
        resolved_at timestamptz,
        state json not null
      )`);
    await db.raw('create index discrepancies_open on discrepancies (at, id) where resolved_at is null');
    await db.raw('create index discrepancies_by_payment on discrepancies (transaction_id)');
  },

  async project(events, db) {
    const ids = [...new Set(events.map(idOf))];
    const { rows } = await db.raw<{ rows: Folded[] }>(
      'select id, revision, state from discrepancies where id = any(?)',
      [ids],
    );
    const changed = fold(rows, events);
    if (changed.length > 0) await db.raw(upsert, [JSON.stringify(changed.map(rowOf))]);
  },
};

type Folded = { id: string; revision: number; state: Difference | null };

const idOf = ({ streamName }: RecordedEvent) => streamName.slice(reconciliationStreamPrefix.length);

/** The discrepancies that the events changed. An event that its row already holds is passed over. */
function fold(rows: readonly Folded[], events: readonly RecordedEvent[]): Folded[] {
  const known = new Map(rows.map((row) => [row.id, row]));
  const changed = new Map<string, Folded>();
  for (const event of events) {
    const id = idOf(event);
    const { revision, state } = known.get(id) ?? { revision: -1, state: null };
    if (event.revision <= revision) continue;
    if (event.revision > revision + 1)
      throw new ProjectionFault(`Revision ${revision + 1} of the stream is missing before this event`);
    const next = {
      id,
      revision: event.revision,
      state: evolveDiscrepancy(state, readReconciliationEvent(event)),
    };
    known.set(id, next);
    changed.set(id, next);
  }
  return [...changed.values()];
}

function rowOf({ id, revision, state }: Folded) {
  if (!state) throw new ProjectionFault('The stream does not begin with a discrepancy');
  const { at, kind, merchantCode, ours, resolved, source, theirs, transactionId } = state;
  return {
    id,
    revision,
    kind,
    source,
    transaction_id: indexable(transactionId),
    merchant_code: indexable(merchantCode),
    amount_sen: (theirs ?? ours)?.amountSen ?? null,
    at,
    resolution: resolved?.resolution ?? null,
    resolved_at: resolved?.at ?? null,
    // Text within the text, so that Postgres reads none of its escapes before it is json.
    state: JSON.stringify(state),
  };
}

const upsert = `
  insert into discrepancies
  select id, revision, kind, source, transaction_id, merchant_code, amount_sen, at, resolution, resolved_at, state::json
  from json_to_recordset(?) as changed (
    id text, revision integer, kind text, source text, transaction_id text, merchant_code text, amount_sen bigint,
    at timestamptz, resolution text, resolved_at timestamptz, state text
  )
  on conflict (id) do update set
    revision = excluded.revision, at = excluded.at, resolution = excluded.resolution,
    resolved_at = excluded.resolved_at, state = excluded.state`;
