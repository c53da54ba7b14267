/** Folds the quarantine as the log grows: the results that match no payment, and what became of each. */
import type { Sealed, SealedPlace } from '@ledger/personal-data/sealed.ts';
import {
  type HandledUnmatched,
  quarantineFold,
  unmatchedFold,
  unmatchedIdOf,
} from '../../../src/events/unmatched.ts';
import type { History } from '../engine/history.ts';
import type { Report } from '../violations.ts';
import type { Decoded } from './stored.ts';

export type KeptResult = {
  sealed: { value: Sealed<unknown>; place: SealedPlace };
  receivedAtMs: number;
  handled: HandledUnmatched;
};

export function createQuarantineCheck({ report, history }: { report: Report; history: History }) {
  const times = new Map<string, number>();
  /** By the id of the result. */
  const results = new Map<string, KeptResult>();

  return {
    /** A result that arrives. */
    take(event: Decoded): void {
      const { stream, revision, createdMs } = event;
      const { fingerprint, evidence } = quarantineFold.read(event).data;
      const known = (times.get(fingerprint ?? '') ?? 0) + 1;
      times.set(fingerprint ?? '', known);
      history.tell('log: GatewayResultUnmatched');
      if (known > 1) report('quarantine-repeats', 'gateway-unmatched', `It holds a result ${known} times`);
      results.set(unmatchedIdOf({ streamName: stream, revision }), {
        sealed: { value: evidence, place: { stream, field: 'evidence' } },
        receivedAtMs: createdMs,
        handled: unmatchedFold.initial,
      });
    },

    /** What becomes of one. */
    handle(event: Decoded, retentionMs: number | null): void {
      const id = event.stream.slice(unmatchedFold.prefix.length);
      const kept = results.get(id);
      if (!kept) throw new Error(`There is no result ${id}`);
      const read = unmatchedFold.read(event);
      history.tell(`log: ${read.type} in ${event.stream}`);
      results.set(id, { ...kept, handled: unmatchedFold.evolve(kept.handled, read) });
      if (read.type !== 'PersonalDataErased' || read.data.reason !== 'retention') return;
      if (retentionMs === null || event.createdMs - kept.receivedAtMs < retentionMs)
        report('erased-early', event.stream, `It arrived at ${new Date(kept.receivedAtMs).toISOString()}`);
      if (!kept.handled.resolved)
        report('erased-early', event.stream, 'Staff have not resolved it, and cannot any more');
    },

    results: results as ReadonlyMap<string, KeptResult>,
    clear(): void {
      times.clear();
      results.clear();
    },
  };
}
