/** `ledger verify`: whether everything is still as it was written; with --file, whether an export is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventStore } from '@ledger/event-store/event-store.ts';
import { reasonOf } from '@ledger/kernel/reason-of.ts';
import { leadNow } from '@ledger/postgres/leader-election.ts';
import { longestStatementMs } from '@ledger/projections/runtime/tables.ts';
import { forAll, type KeyTerm, publicKeysIn, type SealKey, sealKeyOf } from '@ledger/transparency-log/key.ts';
import {
  type Checkpoint,
  openCheckpoint,
  readVerifier,
  type Witnesses,
} from '@ledger/transparency-log/note.ts';
import { recordVerified } from '../audit/background-check/schedule.ts';
import { readLastSeal } from '../audit/seals/find-seals.ts';
import { keptCheckpoints, lastCheckpointFile } from '../audit/seals/kept-checkpoints.ts';
import { acceptOlderLog, acknowledge } from '../audit/verify/acknowledge.ts';
import { verifyFile } from '../audit/verify/export-file.ts';
import { progressFile } from '../audit/verify/resume.ts';
import type { VerifyDependencies } from '../audit/verify/verification.ts';
import { type VerifyReport, verify as verifyStores } from '../audit/verify/verify.ts';
import { Refused } from '../commands/decider.ts';
import { renderText } from '../common/templates.ts';
import type { Config } from '../config/config.ts';
import { onSignals } from '../roles/lifecycle.ts';
import { type CommandOf, type CommandOutcome, readableFile, UsageError } from './command.ts';
import { openVerifyProgress } from './progress.ts';
import { type Context, fail, staffCause, withStores } from './stores.ts';

const needs = { uses: ['sealKeys'] } as const;

export const command: CommandOf<'verify'> = async (options) => {
  const { acknowledge: place, 'accept-older-log': accepts = false, file, reason, since } = options;
  if (accepts) return await acceptLog(reason);
  if (place !== undefined || reason !== undefined) return await acknowledgeFaults(place, reason);
  const { 'public-key': publicKey, 'witness-keys': keyFile, record = false } = options;
  if (options.witnesses !== undefined && keyFile === undefined)
    throw new UsageError('--witnesses needs --witness-keys');
  if (file !== undefined && (record || since !== undefined))
    throw new UsageError('--since and --record are about the log, not about a file');
  const given = publicKey === undefined ? null : keysOf(publicKey);
  const witnesses = keyFile === undefined ? null : witnessesIn(keyFile, options.witnesses);
  if (file !== undefined) return await verifyExport(file, given, witnesses);
  const verified = since === undefined ? null : checkpointIn(since);
  return await whileAlone(async (signal, context) => {
    const shown = openVerifyProgress();
    const asked = { given, since: verified, witnesses, record, signal };
    const report = await verifyAsAsked(context, asked, shown.show).finally(shown.end);
    return { data: report, text: reportText(report), exitCode: report.violations.length === 0 ? 0 : 1 };
  });
};

type VerifyOptions = Pick<VerifyDependencies, 'since' | 'witnesses' | 'signal'> & {
  /** The keys to trust; null for the configured ones. */
  given: readonly KeyTerm[] | null;
  /** Whether the console shows what is found. */
  record: boolean;
};

/** As `ledger verify` does it, once no other process does. Throws the signal's reason and the stores' errors. */
export async function verifyAsAsked(
  { config, ...stores }: Context<'sealKeys'>,
  { given, record, ...asked }: VerifyOptions,
  onProgress: Parameters<typeof verifyStores>[1],
): Promise<VerifyReport> {
  const { dataDir, dataKeys, sealKeys } = config;
  // Before the first seal of a new key, nothing in the log tells it from a stranger's: the configured ones are trusted.
  const own = [sealKeys.current, sealKeys.previous].filter((key) => key !== '');
  const trusted = given ?? (own.length > 0 ? own.map((key) => forAll(sealKeyOf(key).publicKey)) : null);
  const path = join(dataDir, 'verify-progress.json');
  const progress = dataKeys.current === '' ? null : progressFile(path, dataKeys.current, stores.runtime);
  const report = await verifyStores(
    { ...stores, ...asked, trusted, progress, demandsRows: record },
    onProgress,
  );
  if (!asked.since) progress?.remove();
  if (record && !asked.since) await recordVerified(stores.db, stores.runtime.now(), report);
  return report;
}

/** Fresh rows are made by one process at a time. */
async function whileAlone(
  work: (signal: AbortSignal, context: Context<'sealKeys'>) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const interrupted = new AbortController();
  onSignals(['SIGINT', 'SIGTERM'], { stop: () => interrupted.abort(), exitCode: 130 });
  const requirements = { ...needs, onlyReads: true, longestQueryMs: longestStatementMs };
  return await withStores('verify', requirements, async (context) => {
    const lock = { ...context, name: 'verify', signal: interrupted.signal };
    const outcome = await leadNow(lock, (signal) => work(signal, context));
    return outcome ?? fail('Another `ledger verify` is running.');
  }).catch((error) => {
    if (!interrupted.signal.aborted) throw error;
    process.stderr.write('Interrupted. The next run continues from here.\n');
    return 130;
  });
}

/** A checkpoint as `ledger seals --last` prints it. The seal in the log says whether a trusted key has signed it. */
function checkpointIn(file: string): Checkpoint {
  const checkpoint = openCheckpoint(readFileSync(readableFile(file), 'utf8'), null);
  if (typeof checkpoint === 'string') throw new UsageError(`${file}: ${checkpoint}`);
  return checkpoint;
}

/** The witnesses in the file, one per line, each counted once. All of them must sign unless fewer are demanded. */
function witnessesIn(file: string, needed: string | undefined): Witnesses {
  const lines = [...new Set(readFileSync(readableFile(file), 'utf8').trim().split(/\s*\n/))];
  const known = lines.flatMap((line) => {
    const verifier = readVerifier(line);
    return verifier?.kind === 'witness' ? verifier : [];
  });
  if (known.length < lines.length) throw new UsageError(`${file} must hold keys of witnesses, one per line`);
  const count = Number(needed ?? known.length);
  if (!Number.isInteger(count) || count < 1 || count > known.length)
    throw new UsageError(`--witnesses must be from 1 to ${known.length}`);
  return { known, needed: count };
}

function keysOf(file: string): KeyTerm[] {
  const text = readFileSync(readableFile(file), 'utf8');
  try {
    return publicKeysIn(text);
  } catch (error) {
    throw new UsageError(`${file}: ${reasonOf(error)}`);
  }
}

/** What was checked, one line each; then notes on what was not checked; then the first violations of each kind. */
export function reportText(report: VerifyReport): string {
  const width = Math.max(...report.checked.map(({ count }) => count.toLocaleString('en').length));
  return renderText('verified.txt', { ...report, width });
}

async function acknowledgeFaults(place = '', reason = ''): Promise<CommandOutcome> {
  const [, stream = '', revision] = /^(.+)@(\d{1,15})$/.exec(place) ?? [];
  if (stream === '' || reason.trim() === '')
    throw new UsageError(
      '--acknowledge needs an event, such as payment-X@3, and --reason why it is as it is',
    );
  return await withStores(
    'verify',
    { ...needs, needs: ['eventStore'] },
    async ({ config, eventStore, runtime }) => {
      const key = await signerOf(config.sealKeys, eventStore);
      const sentences = await acknowledge(
        { eventStore, key },
        { at: runtime.now(), place: { stream, revision: Number(revision) }, reason },
        staffCause(),
      );
      if (sentences.length === 0) return fail('There is no such event, or nothing is wrong with it.');
      const text = sentences.map((sentence) => `Acknowledged: ${sentence}.`).join('\n');
      return { data: { acknowledged: sentences }, text };
    },
  );
}

async function acceptLog(reason = ''): Promise<CommandOutcome> {
  if (reason.trim() === '') throw new UsageError('--accept-older-log needs --reason why it was restored');
  return await withStores('verify', needs, async ({ config, db, eventStore, runtime }) => {
    const key = await signerOf(config.sealKeys, eventStore);
    const kept = keptCheckpoints(db, join(config.dataDir, lastCheckpointFile));
    const given = { at: runtime.now(), reason };
    const missing = await acceptOlderLog({ eventStore, kept, key }, given, staffCause());
    if (missing.length === 0) return fail('The log has all that is kept: run `ledger verify`.');
    const lines = missing.map(
      ({ name, size }) => `Accepted: the log does not have ${name}, of ${size.toLocaleString('en')} events.`,
    );
    return { data: { missing }, text: lines.join('\n') };
  });
}

/** The key that acknowledgements are signed with. Throws Refused without one that would count. */
async function signerOf(
  { current }: Config['sealKeys'],
  eventStore: Pick<EventStore, 'loadLast'>,
): Promise<SealKey> {
  if (current === '') throw new Refused('wrong_key', 'SEAL_KEY is not set: this is signed with it');
  const key = sealKeyOf(current);
  const last = await readLastSeal(eventStore);
  if (!last?.checkpoint || last.publicKey === key.publicKey) return key;
  throw new Refused('wrong_key', 'SEAL_KEY is not the key of the last seal: what it signs would not count');
}

async function verifyExport(
  file: string,
  trusted: readonly KeyTerm[] | null,
  witnesses: Witnesses | null,
): Promise<CommandOutcome> {
  const found = await verifyFile(readableFile(file), trusted, witnesses);
  const { violation, payments, checkpoint, unproven, alone } = found;
  if (violation) return { data: found, text: renderText('file-violation.txt', violation), exitCode: 1 };
  // Without the leaves between its events, nothing shows that a file with more than one subject lacks nothing.
  const isProven = unproven === 0 && (checkpoint !== null || payments + alone.length === 1);
  const data = { ...found, isProven };
  // A key or witnesses ask for proof of every event: an export without any proof has no signature to check.
  const mustBeProven = trusted !== null || witnesses !== null;
  const text = renderText('verified-file.txt', { ...data, mustBeProven, isTrusted: trusted !== null });
  return { data, text, exitCode: mustBeProven && !isProven ? 1 : 0 };
}
