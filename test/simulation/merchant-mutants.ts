/**
 * Mutants that merchants notice by their lists and keys; and some that show when PostgreSQL has no room, or after everything
 * was lost.
 */
import type { Mutant } from './mutants.ts';

export const merchantMutants: Readonly<Record<string, Omit<Mutant, 'name'>>> = {
  'page-skips-one': {
    what: 'The next page of a list begins one payment too late',
    file: 'src/projections/payments/queries.ts',
    code: 'return { rows: page, nextAfter: last.transaction_id };',
    becomes: 'return { rows: page, nextAfter: found.at(-1)?.transaction_id ?? null };',
    seenBy: ['list-wrong'],
    payments: 24,
    seeds: 5,
  },
  'last-result-told': {
    what: 'A merchant is told the outcome of the last attempt, although an earlier one has paid',
    file: 'src/receipts/payment-fields.ts',
    code: 'const status = statusCodeOf(payment);',
    becomes: "const status = payment.results.at(-1)?.outcome === 'failed' ? '0' : statusCodeOf(payment);",
    seenBy: ['unpaid-again', 'list-wrong'],
    fault: 'merchant-reads',
    payments: 40,
    seeds: 20,
  },
  'new-key-unknown': {
    what: 'A process knows a key that another one has issued only after some seconds',
    file: 'src/commands/credentials.ts',
    code: '(await known(servesMs)) ?? (await known(0))',
    becomes: 'await known(servesMs)',
    seenBy: ['key-refused'],
    fault: 'credentials',
    payments: 20,
    seeds: 20,
  },
  'ended-key-counts': {
    what: 'A key or a secret that has ended counts',
    file: 'src/commands/credentials.ts',
    code: 'endsAt !== null && endsAt <= at);',
    becomes: 'endsAt !== null && endsAt === at);',
    seenBy: ['revoked-opens', 'callback-unsigned'],
    fault: 'credentials',
    payments: 10,
    seeds: 20,
  },
  'no-room-untold': {
    what: 'Health says only that projections are late while PostgreSQL has no room',
    file: 'packages/projections/runtime/run.ts',
    code: 'await recordFault(db, schema, diskFullText).catch(() => {});',
    becomes: '',
    seenBy: ['health-lies'],
    fault: 'postgres-full',
    payments: 10,
    seeds: 20,
  },
  'full-disk-parks': {
    what: 'What PostgreSQL has no room for counts as refused for ever, and its payment is left out of the read models',
    file: 'packages/postgres/error-codes.ts',
    code: '|40|5[3578]|',
    becomes: '|40|5[578]|',
    seenBy: ['rows-differ', 'health-cries-wolf', 'delivery-stuck'],
    fault: 'postgres-full',
    payments: 10,
    seeds: 20,
  },
  'acceptance-unfinished': {
    what: 'The sealer stays as it is although staff have accepted an older log',
    file: 'src/audit/verify/acknowledge.ts',
    code: 'await kept.forget();',
    becomes: '',
    seenBy: ['rows-differ'],
    fault: 'recovery',
    payments: 8,
    seeds: 20,
  },
};
