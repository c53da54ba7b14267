/** What processes of the program log: their errors are faults, unless something explains them. */
import { createLog, type Log } from '@ledger/kernel/log.ts';
import type { History } from '../engine/history.ts';
import { type FaultKind, type Plan, unreadableType } from '../plan.ts';
import type { Report } from '../violations.ts';

/** Errors that only say that a store is away. */
const outages = new Set(['EventStoreUnavailable', 'EventStoreFull', 'KnexTimeoutError']);

export function createNodeLogs({
  plan: { faults },
  history,
  report,
}: {
  plan: Plan;
  history: History;
  report: Report;
}): (name: string) => Log {
  const has = (...kinds: readonly FaultKind[]) => faults.some(({ kind }) => kinds.includes(kind));
  const replacesSealKey = faults.some((fault) => fault.kind === 'rotate' && fault.key === 'seal');
  return (name) =>
    createLog('warn', name, {
      write(line: string) {
        const { level, msg, reason, message, err } = JSON.parse(line);
        const detail = err ? `${err.type}: ${err.message}` : (reason ?? message ?? '');
        // Some messages have a stack trace, which some runs only make.
        const [said] = msg.split('\n');
        history.tell(`${name}: ${level >= 50 ? 'ERROR' : 'warns'}: ${said}${detail ? ` (${detail})` : ''}`);
        // A request about a payment that the simulator has made unreadable is refused.
        const refusals = [`Unknown event type ${unreadableType}`, 'The history of a payment is not whole'];
        const isRefused = has('unreadable') && msg === 'request failed' && refusals.includes(err?.message);
        // By a process that has only the key before, or the next one of a key that is lost; until staff accept an older log.
        const isNotSealed = (replacesSealKey || has('recovery')) && msg === 'the log is not sealed any more';
        const isOfLostKeys =
          has('postgres-failover', 'postgres-restore') && msg.startsWith('the hourly check found');
        // The reserve in the data folder was removed with what PostgreSQL lost, and the process started before that was back.
        const hasNoKeys = has('postgres-restore') && err?.type === 'KeysUnavailable';
        // Staff are told that, too.
        const isUnwritten =
          has('postgres-read-only') && reason === 'PostgreSQL takes no writes at present' && !err;
        // PostgreSQL was away for longer than a rebuild waits for it, of which staff see the reason.
        const isGivenUp =
          has('postgres-crash', 'postgres-restore', 'postgres-failover', 'cut') &&
          msg.startsWith('a rebuild failed') &&
          reason === 'PostgreSQL does not answer';
        // Of the previous release, once a process of this one has made the tables again: content/docs/upgrading.md.
        const isOlder = has('upgrade') && detail.includes('made by a newer program than this one');
        // What it finds is checked by itself.
        const isVerified = msg === 'the daily verification found violations';
        const isAway = isUnwritten || isGivenUp || isOlder;
        const isKnown = isRefused || isNotSealed || isOfLostKeys || hasNoKeys || isAway || isVerified;
        if (level >= 50 && !outages.has(err?.type) && !isKnown)
          report('program-fault', `${name.replace(/-\d+$/, '')}: ${msg}`, err?.stack ?? detail);
      },
    });
}
