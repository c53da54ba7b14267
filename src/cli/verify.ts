/** `ledger verify`: whether everything is still as it was written; with --file, whether an export is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordVerified } from '../audit/check/checks.ts';
import { publicKeysIn, sealKeyOf } from '../audit/seals/key.ts';
import { type Checkpoint, openCheckpoint, readVerifier } from '../audit/tree/note.ts';
import { acknowledge } from '../audit/verify/acknowledge.ts';
import { verifyFile } from '../audit/verify/file.ts';
import { progressFile } from '../audit/verify/resume.ts';
import { type VerifyReport, verify as verifyStores } from '../audit/verify/verify.ts';
import type { VerifyProgress } from '../audit/verify/violations.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import { withLeaderLock } from '../postgres/leader-lock.ts';
import { longestStatementMs } from '../projections/rebuild/rebuild.ts';
import { type Command, flag, text, UsageError } from './command.ts';
import { bar, openProgress } from './progress.ts';
import { type ContextWithDatabase, fail, print, staffCause, withEventStore, withStores } from './stores.ts';

const options = {
  acknowledge: text,
  anew: flag,
  file: text,
  'public-key': text,
  reason: text,
  record: flag,
  since: text,
  'witness-keys': text,
  witnesses: text,
} as const;
const needs = { uses: ['sealKey'] } as const;

export const verify: Command<typeof options> = {
  summary:
    'whether the log, its seals and all that is made from it are as they were written; or whether an export is',
  usage:
    '[--public-key FILE] [--since CHECKPOINT] [--anew] [--record] [--witness-keys FILE [--witnesses N]] | --file EXPORT [--public-key FILE] | --acknowledge STREAM@REVISION --reason TEXT',
  options,
  async run({
    acknowledge: place,
    anew = false,
    file,
    'public-key': publicKey,
    reason,
    record = false,
    since,
    'witness-keys': keyFile,
    witnesses: needed,
  }) {
    if (place !== undefined || reason !== undefined) return await acknowledgeFaults(place, reason);
    const given = publicKey === undefined ? null : keysOf(publicKey);
    if (file !== undefined) return await verifyExport(file, given);
    const witnesses = keyFile === undefined ? null : witnessesIn(keyFile, needed);
    const verified = since === undefined ? null : checkpointIn(since, given);
    return await whileAlone(async (signal, { config: { dataDir, sealKey }, ...stores }) => {
      const trusted = given ?? (sealKey === '' ? null : [sealKeyOf(sealKey).publicKey]);
      const progress = progressFile(join(dataDir, 'verify-progress.json'), stores.runtime);
      if (anew) progress.remove();
      const shown = openProgress();
      const report = await verifyStores(
        { ...stores, trusted, since: verified, witnesses, progress, signal },
        (step) => shown.show(() => stepText(step)),
      ).finally(shown.end);
      if (!verified) progress.remove();
      if (record && !verified) await recordVerified(stores.db, stores.runtime.now(), report);
      print(reportText(report));
      return report.violations.length === 0 ? 0 : 1;
    });
  },
};

/** Fresh rows are made by one process at a time. Resolves to the exit code. */
async function whileAlone(
  work: (signal: AbortSignal, context: ContextWithDatabase<'sealKey'>) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('Interrupted: the next run goes on from here'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  const requirements = { ...needs, onlyReads: true, longestQueryMs: longestStatementMs };
  return await withStores('verify', requirements, async (context) => {
    const lock = { ...context, name: 'verify', waits: false, signal: interrupted.signal };
    const codes: number[] = [];
    await withLeaderLock(lock, async (signal) => void codes.push(await work(signal, context)));
    return codes[0] ?? fail('Another `ledger verify` is running.');
  });
}

/** Such as `[██░░] 62 % 1,284,000 events of the log`. */
function stepText({ step, done, share }: VerifyProgress): string {
  const part = share === null ? '' : `${bar(share)} ${Math.floor(share * 100)} % `;
  return `${part}${done.toLocaleString('en')} ${step}`;
}

/** A checkpoint as `ledger seals --last` prints it. */
function checkpointIn(file: string, trusted: readonly string[] | null): Checkpoint {
  const checkpoint = openCheckpoint(readFileSync(file, 'utf8'), trusted);
  if (typeof checkpoint === 'string') throw new UsageError(`${file}: ${checkpoint}`);
  return checkpoint;
}

/** All of the witnesses in the file, one in a line, unless fewer are demanded. */
function witnessesIn(file: string, needed: string | undefined) {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const known = lines.flatMap((line) => {
    const verifier = readVerifier(line);
    return verifier?.kind === 'witness' ? verifier : [];
  });
  if (known.length < lines.length) throw new UsageError(`${file} must hold keys of witnesses, one in a line`);
  const count = Number(needed ?? known.length);
  if (!Number.isInteger(count) || count < 1 || count > known.length)
    throw new UsageError(`--witnesses must be from 1 to ${known.length}`);
  return { known, needed: count };
}

function keysOf(file: string): string[] {
  try {
    return publicKeysIn(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file}: ${reasonOf(error)}`);
  }
}

/** What was checked, one line each; then notes on what was not checked; then the first violation of each kind. */
export function reportText({ checked, explained, violations, notes }: VerifyReport): string {
  const width = Math.max(...checked.map(({ count }) => count.toLocaleString('en').length));
  const lines = checked.map(({ what, count }) => `${count.toLocaleString('en').padStart(width)}  ${what}`);
  const verdict =
    violations.length === 0
      ? ['Everything that was checked is as it was written.']
      : violations.map(({ kind, count, first }) => `VIOLATION ${kind} (${count}): ${first}.`);
  return [...lines, '', ...notes, ...explained.map((each) => `EXPLAINED ${each}.`), ...verdict].join('\n');
}

/** Resolves to the exit code. */
async function acknowledgeFaults(place = '', reason = ''): Promise<number> {
  const [, stream = '', revision] = /^(.+)@(\d{1,15})$/.exec(place) ?? [];
  if (stream === '' || reason.trim() === '')
    throw new UsageError(
      '--acknowledge needs an event, such as payment-X@3, and --reason why it is as it is',
    );
  return await withEventStore('verify', needs, async ({ config: { sealKey }, eventStore, runtime }) => {
    if (sealKey === '') return fail('SEAL_KEY is not set: an acknowledgement is signed with it.');
    const sentences = await acknowledge(
      { eventStore, key: sealKeyOf(sealKey) },
      { at: runtime.now(), place: { stream, revision: Number(revision) }, reason },
      staffCause(),
    );
    for (const sentence of sentences) print(`Acknowledged: ${sentence}.`);
    return sentences.length > 0 ? 0 : fail('There is no such event, or nothing is wrong with it.');
  });
}

async function verifyExport(file: string, trusted: readonly string[] | null): Promise<number> {
  const found = await verifyFile(file, trusted);
  const { violation, events, payments, checksum, checkpoint, unproven, first, alone } = found;
  if (violation) {
    const { line, stream, revision, reason } = violation;
    const event = stream === null ? '' : `, ${stream} revision ${revision}`;
    print(`VIOLATION line ${line}${event}: ${reason}.`);
    return 1;
  }
  const isProven = unproven === 0 && (checkpoint !== null || payments === 1 || alone.length > 0);
  print(
    `${events.toLocaleString('en')} events of ${payments.toLocaleString('en')} payments are as they were written.\nChecksum ${checksum}`,
  );
  if (checkpoint)
    print(
      `Of what was asked for nothing is missing that the first ${checkpoint.size.toLocaleString('en')} events of ${checkpoint.origin} hold.`,
    );
  for (const number of alone)
    print(`Event ${number.toLocaleString('en')} of the log is the one that this file is about.`);
  if (!trusted) print('No public key was given: whose log this is was not checked.');
  if (isProven) return 0;
  const what = unproven > 0 ? `${unproven} events, the first of them ${first}, are` : 'The file is';
  print(`${trusted ? 'VIOLATION ' : ''}${what} not proven to be from the log: not sealed yet, or added.`);
  return trusted ? 1 : 0;
}
