/** Checks at the end that the last seal has the signatures of the witnesses, if they could sign it. */
import { lackOfWitnesses } from '@ledger/transparency-log/note.ts';
import { type CheckpointSigned, sealsStream } from '../../../src/events/seals.ts';
import { minute } from '../fault-kinds.ts';
import { losesLog } from '../plan.ts';
import type { Simulation } from '../play-out.ts';
import type { EventStoreCluster } from '../stores/event-store.ts';
import { type Decoded, decode } from './stored.ts';

/** What was offered to a witness before it was well has been given up by then. */
const wellForMs = minute;

export function checkWitnessed({ plan, beganMs, cluster, witnesses, violations }: Simulation): void {
  const troubles = plan.faults.flatMap((it) => (it.kind === 'witness' ? [it.atMs + it.forMs] : []));
  // A witness never signs what does not continue the log that was lost.
  if (troubles.length === 0 || losesLog(plan)) return;
  const wellMs = beganMs + Math.max(plan.healAtMs, ...troubles) + wellForMs;
  const last = lastSeal(cluster);
  if (!last || last.createdMs < wellMs) return;
  const { checkpoint } = last.data as CheckpointSigned;
  const { known } = witnesses;
  const lack = lackOfWitnesses(checkpoint, { known, needed: known.length });
  if (lack) violations.report('unwitnessed', 'seals', lack);
}

function lastSeal(cluster: EventStoreCluster): Decoded | undefined {
  let last: Decoded | undefined;
  let next = 0;
  for (let page = cluster.eventsFrom(next); page.length > 0; page = cluster.eventsFrom(next))
    for (const stored of page) {
      next = stored.position + 1;
      if (stored.stream === sealsStream) last = decode(stored);
    }
  return last;
}
