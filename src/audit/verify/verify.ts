/**
 * Verifies everything, in this order, and changes nothing: the seals, then the log by its chains and seals
 * (sealed-log.ts), then what is made from the log. A new check of the last kind is one more function in
 * `derivedChecks`.
 */
import { positionText } from '@ledger/event-store/position.ts';
import { check } from '../background-check/check.ts';
import { sealingRefused } from '../seals/sealing-status.ts';
import { reportHalted, verifyRows } from './read-models.ts';
import { verifyJournal, verifyPayments } from './rules.ts';
import { verifySealedLog } from './sealed-log.ts';
import { type DerivedCheck, type Report, unlessRefused, type VerifyDependencies } from './verification.ts';
import { createViolations, type VerifyProgress } from './violations.ts';

export type VerifyReport = Awaited<ReturnType<typeof verify>>;

const derivedChecks: readonly DerivedCheck[] = [
  verifyRows,
  reportHalted,
  unlessRefused('the journal', 'The journal', verifyJournal),
  unlessRefused('rows of payments', 'Receipts and deliveries', verifyPayments),
];

/** Throws the signal's reason, EventStoreUnavailable, and the database's error. */
export async function verify(
  dependencies: VerifyDependencies,
  onProgress: (progress: VerifyProgress) => void,
) {
  const { db, personalData, signal, since } = dependencies;
  const report: Report = { checked: [], notes: [], violations: createViolations() };
  const { checked, notes, violations } = report;
  const verification = { ...dependencies, report, onProgress };
  const { isComplete, from, ...log } = await verifySealedLog(verification);
  const refused = await sealingRefused(db);
  if (refused !== null) violations.add('unsealed events', `Nothing is sealed any more: ${refused}`);
  if (!isComplete) notes.push('The read models were not checked, since they are made from the whole log.');
  else if (since && from && personalData) {
    const last = { until: positionText(from.after), streams: [], days: [] };
    const all = { last, signal, most: Number.POSITIVE_INFINITY };
    const rows = await check({ ...dependencies, personalData }, all);
    violations.addAll(rows.violations);
    checked.push(...rows.checked);
    notes.push('Events before the checkpoint, unchanged rows and other read models were not checked.');
  } else for (const derived of derivedChecks) checked.push(...(await derived({ ...verification, ...log })));
  return { checked, explained: log.acknowledgements.explained, violations: violations.all(), notes };
}
