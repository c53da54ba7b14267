/** `ledger verify`: whether everything is still as it was written; with --file, whether an export is. */
import { readFileSync } from 'node:fs';
import { forAll, type KeyTerm, publicKeysIn, sealKeyOf } from '../audit/seals/key.ts';
import { lastCheckpoint } from '../audit/tree/leaves.ts';
import { type Checkpoint, openCheckpoint, readVerifier } from '../audit/tree/note.ts';
import { acknowledge } from '../audit/verify/acknowledge.ts';
import { verifyFile } from '../audit/verify/file.ts';
import { type VerifyReport, verify as verifyStores } from '../audit/verify/verify.ts';
import { reasonOf } from '../kernel/reason-of.ts';
import { longestStatementMs } from '../projections/rebuild/rebuild.ts';
import { type Command, text, UsageError } from './command.ts';
import { openProgress } from './progress.ts';
import { fail, print, staffCause, withEventStore, withStores } from './stores.ts';

const needs = { uses: ['sealKeys'] } as const;

export const verify: Command = {
  summary:
    'whether the log, its seals and all that is made from it are as they were written; or whether an export is',
  usage:
    '[--public-key FILE] [--since CHECKPOINT] [--witness-keys FILE [--witnesses N]] | --file EXPORT [--public-key FILE] | --acknowledge STREAM@REVISION --reason TEXT',
  options: {
    acknowledge: text,
    file: text,
    'public-key': text,
    reason: text,
    since: text,
    'witness-keys': text,
    witnesses: text,
  },
  async run({
    acknowledge: place,
    file,
    'public-key': publicKey,
    reason,
    since,
    'witness-keys': keyFile,
    witnesses,
  }) {
    if (place !== undefined || reason !== undefined) return await acknowledgeFaults(place, reason);
    const given = publicKey === undefined ? null : keysOf(publicKey);
    if (file !== undefined) return await verifyExport(file, given);
    const cosigned = keyFile === undefined ? null : witnessesIn(keyFile, witnesses);
    const verified = since === undefined ? null : checkpointIn(since);
    const interrupted = new AbortController();
    process.once('SIGINT', () => interrupted.abort(new Error('Interrupted')));
    const progress = openProgress();
    return await withStores(
      'verify',
      { uses: ['sealKeys'], onlyReads: true, longestQueryMs: longestStatementMs },
      async ({ config: { sealKeys }, ...stores }) => {
        const own = sealKeys.current === '' ? null : [forAll(sealKeyOf(sealKeys.current).publicKey)];
        const trusted = given ?? own;
        const report = await verifyStores(
          { ...stores, trusted, since: verified, witnesses: cosigned, signal: interrupted.signal },
          ({ step, done }) => progress.show(() => `${done.toLocaleString('en')} ${step}`),
        ).finally(progress.end);
        print(reportText(report));
        return report.violations.length === 0 ? 0 : 1;
      },
    );
  },
};

/** A checkpoint as `ledger seals --last` prints it. Whether a trusted key has signed it, the seal in the log says. */
function checkpointIn(file: string): Checkpoint {
  const checkpoint = openCheckpoint(readFileSync(file, 'utf8'), null);
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

function keysOf(file: string): KeyTerm[] {
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
  return await withEventStore('verify', needs, async ({ config, eventStore, runtime }) => {
    const { current } = config.sealKeys;
    if (current === '') return fail('SEAL_KEY is not set: an acknowledgement is signed with it.');
    const key = sealKeyOf(current);
    const last = await lastCheckpoint(eventStore).catch(() => null);
    if (last && last.seal.publicKey !== key.publicKey)
      return fail('SEAL_KEY is not the key of the last seal: what it signs would not count.');
    const sentences = await acknowledge(
      { eventStore, key },
      { at: runtime.now(), place: { stream, revision: Number(revision) }, reason },
      staffCause(),
    );
    for (const sentence of sentences) print(`Acknowledged: ${sentence}.`);
    return sentences.length > 0 ? 0 : fail('There is no such event, or nothing is wrong with it.');
  });
}

async function verifyExport(file: string, trusted: readonly KeyTerm[] | null): Promise<number> {
  const { violation, events, payments, checksum, checkpoint, unproven, first } = await verifyFile(
    file,
    trusted,
  );
  if (violation) {
    const { line, stream, revision, reason } = violation;
    const event = stream === null ? '' : `, ${stream} revision ${revision}`;
    print(`VIOLATION line ${line}${event}: ${reason}.`);
    return 1;
  }
  const isProven = unproven === 0 && (checkpoint !== null || payments === 1);
  print(
    `${events.toLocaleString('en')} events of ${payments.toLocaleString('en')} payments are as they were written.\nChecksum ${checksum}`,
  );
  if (checkpoint)
    print(
      `Of what was asked for nothing is missing that the first ${checkpoint.size.toLocaleString('en')} events of ${checkpoint.origin} hold.`,
    );
  if (!trusted) print('No public key was given: whose log this is was not checked.');
  if (isProven) return 0;
  const what = unproven > 0 ? `${unproven} events, the first of them ${first}, are` : 'The file is';
  print(`${trusted ? 'VIOLATION ' : ''}${what} not proven to be from the log: not sealed yet, or added.`);
  return trusted ? 1 : 0;
}
