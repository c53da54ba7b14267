/**
 * What the embedded parts supply in place of variables that are not set: keys made once and kept for good, and the
 * addresses of the stores that run now. Other commands of the same data folder read both from here.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type Variables = Readonly<Record<string, string>>;

/**
 * The development keys of a data folder whose lock the caller holds: made at the first start, never changed,
 * since every transaction id of the folder is derived from one of them.
 */
export function developmentKeys(dataDir: string): Variables {
  const file = join(dataDir, 'keys.json');
  const existing = readJson(file);
  if (existing) return existing;
  const key = () => randomBytes(32).toString('hex');
  const made = { TRANSACTION_ID_KEY: key(), GATEWAY_SECRET: key() };
  writeJson(file, made);
  return made;
}

/** Notes the addresses of the stores that `ledger serve` runs, for other commands. */
export function writeEndpoints(dataDir: string, endpoints: Variables): void {
  writeJson(join(dataDir, 'endpoints.json'), endpoints);
}

/** Keys and addresses of a data folder; empty where no `ledger serve` has run. */
export function readEndpoints(dataDir: string): Variables {
  return { ...readJson(join(dataDir, 'keys.json')), ...readJson(join(dataDir, 'endpoints.json')) };
}

function readJson(file: string): Variables | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  return JSON.parse(text) as Variables;
}

/** Written whole beside the file and renamed: a crash leaves the old one or the new one. Holds secrets: 0600. */
function writeJson(file: string, content: Variables): void {
  const draft = openSync(`${file}.new`, 'w', 0o600);
  writeSync(draft, `${JSON.stringify(content, null, 2)}\n`);
  fsyncSync(draft);
  closeSync(draft);
  renameSync(`${file}.new`, file);
}
