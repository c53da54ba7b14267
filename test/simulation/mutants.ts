/**
 * Faults that are put into the program again, one at a time, to see that the simulator finds them: those that it found
 * and that were mended, and some that would break what the program rests on. `npm run simulate -- --mutants` tries all.
 */
import { registerHooks } from 'node:module';
import type { FaultKind } from './plan.ts';
import type { Invariant } from './violations.ts';

export type Mutant = {
  name: string;
  what: string;
  file: string;
  /** Occurs in the file exactly once. */
  code: string;
  becomes: string;
  /** What the simulator sees of it. */
  seenBy: readonly Invariant[];
  /** A plan of known-faults/ that shows it; the seeds are tried if it no longer does. */
  plan?: string;
  /** The fault that every seed has, if the mutant shows in no calm history. */
  fault?: FaultKind | 'wrong-key';
  payments: number;
  /** It is found within so many seeds, counted from 1. */
  seeds: number;
};

export const mutants: Readonly<Record<string, Omit<Mutant, 'name'>>> = {
  'json-numbers': {
    what: 'A result sent as JSON numbers is refused',
    file: 'src/http/server/body.ts',
    code: 'parseNumbersAsText(json)',
    becomes: 'JSON.parse(json)',
    seenBy: ['signed-result-refused'],
    payments: 40,
    seeds: 20,
  },
  'unreadable-refused': {
    what: 'A signed result of a payment whose events cannot be read is refused',
    file: 'src/http/pay/gateway-response.ts',
    code: "if (error instanceof UnreadableEvent) return 'unreadable_payment';",
    becomes: '',
    seenBy: ['signed-result-refused', 'program-fault'],
    fault: 'unreadable',
    payments: 40,
    seeds: 20,
  },
  'attempt-unasked': {
    what: 'Nobody asks about an attempt once its payment has ended',
    file: 'src/events/requery-schedule.ts',
    code: 'return openAttempts(payment).filter(',
    becomes:
      "return (payment.status === 'requested' || payment.status === 'pending' ? openAttempts(payment) : []).filter(",
    seenBy: ['charge-unknown'],
    payments: 60,
    seeds: 40,
  },
  'mismatch-twice': {
    what: 'A success does not take the money of an earlier amount mismatch out of suspense',
    file: 'src/commands/payment-result.ts',
    code: 'if (!found) return [];',
    becomes: 'if (found !== null) return [];',
    seenBy: ['booked-twice'],
    plan: 'mismatch-booked-twice',
    payments: 60,
    seeds: 60,
  },
  'shared-id-unseen': {
    what: 'One gateway transaction pays two payments, and nobody is told',
    file: 'src/projections/journal/shared-numbers.ts',
    code: "await prepared(db, insertShared, [JSON.stringify(firstBy('id'))]);",
    becomes: '',
    seenBy: ['gateway-id-twice'],
    fault: 'shared-gateway-id',
    payments: 20,
    seeds: 5,
  },
  'older-export-clears': {
    what: 'An older export clears a discrepancy that a newer one showed',
    file: 'src/commands/reconciliation.ts',
    // Asked by the import and by the decider.
    code: 'return asOf ?? at;',
    becomes: "return '';",
    seenBy: ['discrepancy-hidden'],
    plan: 'older-export',
    fault: 'import',
    payments: 60,
    seeds: 60,
  },
  'quarantine-forgets': {
    what: 'The quarantine compares a result with the last one only',
    file: 'src/commands/unmatched.ts',
    code: 'kept.some(({ fingerprint }) => fingerprint === result.fingerprint)',
    becomes: 'kept.at(-1)?.fingerprint === result.fingerprint',
    seenBy: ['quarantine-repeats'],
    fault: 'alternate-unmatched',
    payments: 10,
    seeds: 5,
  },
  'checkpoint-unchecked': {
    what: 'A projection writes although another process has moved its checkpoint',
    file: 'packages/projections/runtime/checkpoints.ts',
    code: "sqlOf('advance-checkpoint')",
    becomes:
      "sqlOf('advance-checkpoint').replaceAll('_position is not distinct from', '_position is null or 0::bigint <=')",
    seenBy: ['rows-differ', 'projection-behind'],
    fault: 'pause',
    payments: 60,
    seeds: 60,
  },
  'lease-ignored': {
    what: 'A reactor claims a delivery that another one holds',
    file: 'src/reactors/deliveries/worker.ts',
    code: 'leaseMs = 60_000',
    becomes: 'leaseMs = 1',
    seenBy: ['callback-doubled'],
    fault: 'receiver',
    payments: 40,
    seeds: 20,
  },
  'claims-alike': {
    what: 'A claim that ends late ends the next claim of the same worker',
    file: 'src/reactors/deliveries/worker.ts',
    code: 'const holder = runtime.uuid();',
    becomes: 'const holder = (attempts.holder ??= runtime.uuid());',
    seenBy: ['callback-doubled'],
    plan: 'claims-alike',
    fault: 'receiver',
    payments: 60,
    seeds: 10,
  },
  'overtaken-sent': {
    what: 'A callback is sent although a newer status has superseded it',
    file: 'src/commands/deliveries.ts',
    code: "all.some(({ kind, change }) => kind === 'callback' && change > delivery.change)",
    becomes: 'all.length < 0',
    // Only the newest callback of a payment is ever claimed: an older one that is not superseded stays due for ever.
    seenBy: ['callback-overtaken', 'delivery-stuck'],
    fault: 'receiver',
    payments: 60,
    seeds: 40,
  },
  'lost-append': {
    what: 'An append whose answer was lost is reported as done',
    file: 'packages/event-store/append.ts',
    code: 'return await findOutOrSendAgain(append, error);',
    becomes:
      "return { revision: append.expected === 'no_stream' ? 0 : append.expected + 1, position: { commit: 0n, prepare: 0n } };",
    seenBy: ['acknowledged-lost', 'false-not-found', 'charge-unknown', 'chain-broken', 'program-fault'],
    fault: 'kill-event-store',
    payments: 60,
    seeds: 40,
  },
  'absence-unconfirmed': {
    what: 'One node alone may say that there is no such payment',
    file: 'packages/event-store/client.ts',
    code: 'const reads = isCluster(url) ?',
    becomes: 'const reads = url === "" ?',
    seenBy: ['false-not-found', 'acknowledged-lost', 'signed-result-refused'],
    fault: 'freeze-leader',
    payments: 24,
    seeds: 20,
  },
  'own-clocks': {
    what: 'Each process tells the time by the clock of its machine',
    file: 'packages/postgres/shared-clock.ts',
    code: 'now: () => new Date(nowMs())',
    becomes: 'now: runtime.now',
    seenBy: ['callback-late', 'callback-doubled', 'delivery-stuck', 'slow-answer'],
    plan: 'clocks-delay-callbacks',
    fault: 'clock',
    payments: 40,
    seeds: 40,
  },
  'older-log-unnoticed': {
    what: 'A projection reads on although the log is older than its rows',
    file: 'packages/event-store/subscription.ts',
    code: 'if (mark !== undefined) await withinDeadline(assertRead(client, mark, position));',
    becomes: '',
    seenBy: ['health-lies'],
    plan: 'older-log',
    fault: 'restore',
    payments: 40,
    seeds: 20,
  },
  'epoch-ignored': {
    what: 'An append is sent although its revision was known before the connection was lost',
    file: 'packages/event-store/append-stream.ts',
    code: 'if (append.known && append.known !== epoch)',
    becomes: 'if (closed)',
    seenBy: ['chain-broken'],
    plan: 'restored-under-load',
    fault: 'restore',
    payments: 100,
    seeds: 40,
  },
  'refund-unlimited': {
    what: 'A refund may be more than is left of its charge',
    file: 'src/commands/refunds.ts',
    code: 'if (amountSen > leftSen)',
    becomes: 'if (leftSen < 0)',
    seenBy: ['refunded-twice', 'program-fault'],
    fault: 'resolve',
    payments: 40,
    seeds: 20,
  },
  'own-approval': {
    what: 'Whoever proposed a refund may approve it',
    file: 'src/commands/approvals.ts',
    code: 'if (approval.by === by)',
    becomes: 'if (approval.no === 0)',
    seenBy: ['decided-alone'],
    fault: 'resolve',
    payments: 40,
    seeds: 20,
  },
  'deaf-leader-stays': {
    what: 'A leader that cannot read the log keeps the lead',
    file: 'packages/projections/runtime/batches.ts',
    code: 'const maxFailures = 4;',
    becomes: 'const maxFailures = Number.POSITIVE_INFINITY;',
    seenBy: ['projection-behind', 'rows-differ', 'delivery-stuck'],
    plan: 'leader-without-log',
    fault: 'deaf-leader',
    payments: 20,
    seeds: 10,
  },
  'unreadable-halts': {
    what: 'One event that nobody can read stops the projections, and with them every callback',
    file: 'packages/projections/runtime/parking.ts',
    code: 'const maxParked = 100;',
    becomes: 'const maxParked = 0;',
    seenBy: ['program-fault', 'projection-behind', 'delivery-stuck', 'rows-differ'],
    plan: 'unreadable-event',
    fault: 'unreadable',
    payments: 20,
    seeds: 10,
  },
  'unreadable-skipped': {
    what: 'An event that nobody can read is skipped, and nobody is told',
    file: 'packages/projections/runtime/parking.ts',
    code: 'return atFault.map(',
    becomes: 'return [].map(',
    seenBy: ['health-lies', 'rows-differ'],
    plan: 'unreadable-event',
    fault: 'unreadable',
    payments: 20,
    seeds: 10,
  },
  'keys-uncompared': {
    what: 'A process with another TRANSACTION_ID_KEY takes payments',
    file: 'src/commands/key-fingerprint.ts',
    code: 'if (state === null || replaces === null || replaces.includes(state))',
    becomes: '',
    seenBy: ['two-payments', 'false-not-found'],
    plan: 'wrong-key',
    fault: 'wrong-key',
    payments: 20,
    seeds: 10,
  },
};

/** Throws if there is none. */
export function mutantNamed(name: string): Mutant {
  const mutant = mutants[name];
  if (!mutant) throw new Error(`There is no mutant ${name}. There are: ${Object.keys(mutants).join(', ')}`);
  return { name, ...mutant };
}

/** Puts it into the program, which must not have been imported yet. Throws if the code is not there. */
export function installMutant({ file, code, becomes }: Mutant): void {
  const url = new URL(`../../${file}`, import.meta.url).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context);
      if (loaded !== url) return module;
      const [before, after, ...more] = String(module.source).split(code);
      if (before === undefined || after === undefined || more.length > 0)
        throw new Error(`${file} does not contain exactly once: ${code}`);
      return { ...module, source: before + becomes + after };
    },
  });
}
