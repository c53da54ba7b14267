// Decisions about a discrepancy: given, when, then.
import test from 'ava';
import { Refused } from '../../src/commands/decider.ts';
import {
  discrepancyIdOf,
  type ReconciliationCommand,
  reconciliationDecider,
} from '../../src/commands/reconciliation.ts';
import {
  type Discrepancy,
  type DiscrepancyFound,
  type ReconciliationEvent,
  reconciliationFold,
} from '../../src/events/reconciliation.ts';
import { sen } from '../support/payments.ts';

const at = '2026-11-21T02:00:00.000Z';
const later = '2026-11-22T02:00:00.000Z';
const discrepancy: DiscrepancyFound = {
  at,
  kind: 'amountDiffers',
  source: 'gateway',
  transactionId: 'T',
  recordId: 'P1',
  gatewayTransactionId: 'P1',
  resultNo: 1,
  merchantCode: 'council',
  paidAt: at,
  ours: { status: 'succeeded', amountSen: sen(100), currency: '' },
  theirs: { status: 'succeeded', amountSen: sen(200), currency: '' },
  file: { sha256: '0', line: 2 },
  asOf: at,
};
const again = { ...discrepancy, at: later, file: { sha256: '1', line: 7 } };
/** Of an export that was made later, or earlier. */
const newer = { ...again, asOf: later };
const older = { ...again, asOf: '2026-11-20T00:00:00.000Z' };

const found: ReconciliationEvent = { type: 'ReconciliationDifferenceFound', data: discrepancy };
const resolved = (resolution: 'vanished' | 'explained', note = ''): ReconciliationEvent => ({
  type: 'ReconciliationDifferenceResolved',
  data: { at, resolution, note, asOf: resolution === 'vanished' ? at : null },
});
const report: ReconciliationCommand = { type: 'ReportDiscrepancy', discrepancy: again };
const settle: ReconciliationCommand = { type: 'ClearDiscrepancy', at, asOf: at };
const settleByOlder: ReconciliationCommand = { type: 'ClearDiscrepancy', at, asOf: older.asOf };
const explain = (note: string): ReconciliationCommand => ({
  type: 'ResolveDiscrepancy',
  at,
  note,
});

const reopened: ReconciliationEvent = { type: 'ReconciliationDifferenceFound', data: again };
const cases: [string, ReconciliationEvent[], ReconciliationCommand, ReconciliationEvent[] | string][] = [
  ['found', [], report, [reopened]],
  ['found again', [found], report, []],
  [
    'found again by a newer export',
    [found],
    { type: 'ReportDiscrepancy', discrepancy: newer },
    [{ type: 'ReconciliationDifferenceFound', data: newer }],
  ],
  ['found again by an older export', [found], { type: 'ReportDiscrepancy', discrepancy: older }, []],
  [
    'found by an older export than the one that cleared it',
    [found, resolved('vanished')],
    { type: 'ReportDiscrepancy', discrepancy: older },
    [],
  ],
  ['not in an older export', [found], settleByOlder, []],
  [
    'not in an export between two that show it',
    [found, { type: 'ReconciliationDifferenceFound', data: newer }],
    settle,
    [],
  ],
  [
    'found by version 1, not in an export that was made before that import',
    [{ type: 'ReconciliationDifferenceFound', data: { ...discrepancy, asOf: null } }],
    settleByOlder,
    [],
  ],
  ['found after it had vanished', [found, resolved('vanished')], report, [reopened]],
  ['found after it was explained', [found, resolved('explained', 'x')], report, []],
  ['vanished', [found], settle, [resolved('vanished')]],
  ['vanished again', [found, resolved('vanished')], settle, []],
  ['vanished after it was explained', [found, resolved('explained', 'x')], settle, []],
  ['vanished, never found', [], settle, 'unknown_exception'],
  ['explained', [found], explain('x'), [resolved('explained', 'x')]],
  ['explained twice alike', [found, resolved('explained', 'x')], explain('x'), []],
  ['explained otherwise', [found, resolved('explained', 'x')], explain('y'), 'exception_resolved'],
  ['explained after it had vanished', [found, resolved('vanished')], explain('x'), 'exception_resolved'],
  [
    'explained, open again',
    [found, resolved('vanished'), reopened],
    explain('x'),
    [resolved('explained', 'x')],
  ],
  ['explained, never found', [], explain('x'), 'unknown_exception'],
];

for (const [name, given, command, then] of cases) {
  test(name, (t) => {
    const state = given.reduce<Discrepancy | null>(reconciliationFold.evolve, null);
    const decided = reconciliationDecider.decide(command, state);
    t.deepEqual<unknown, unknown>(decided instanceof Refused ? decided.code : decided, then);
  });
}

test('the id depends on what differs, not on the file or the time', (t) => {
  const id = discrepancyIdOf('key', discrepancy);
  t.is(discrepancyIdOf('key', again), id);
  const others: Partial<DiscrepancyFound>[] = [
    { kind: 'statusDiffers' },
    { source: 'registry' },
    { transactionId: 'U' },
    { recordId: 'P2' },
    { gatewayTransactionId: 'P2' },
    { resultNo: 2 },
    { resultNo: null },
    { ours: null },
    { theirs: null },
    { theirs: { status: 'succeeded', amountSen: sen(201), currency: '' } },
    { theirs: { status: 'pending', amountSen: sen(200), currency: '' } },
    { theirs: { status: 'succeeded', amountSen: sen(200), currency: 'USD' } },
  ];
  const ids = [id, ...others.map((over) => discrepancyIdOf('key', { ...discrepancy, ...over }))];
  t.is(new Set(ids).size, ids.length);
  t.not(discrepancyIdOf('another key', discrepancy), id);
});
